import fc from 'fast-check'

/** Enough to find slips, few enough for every run. */
const RUNS = 1_000

/** Checks a property with values of a seed that the failure names. */
export function holds<Values>(property: fc.IProperty<Values>, numRuns = RUNS): void {
  const seed = seedOf()
  fc.assert(property, { seed, numRuns })
}

/** As `holds`, for a property that awaits. */
export async function holdsAsync<Values>(
  property: fc.IAsyncProperty<Values>,
  numRuns = RUNS,
): Promise<void> {
  await fc.assert(property, { seed: seedOf(), numRuns })
}

/** `TEST_SEED` repeats a run. Each seed is told, also when all is well. */
function seedOf(): number {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stderr.write(`fast-check seed ${seed}\n`)
  return seed
}
