import fc from 'fast-check'

/** Enough to find errors, few enough for every run. */
const RUNS = 1_000

/** Checks a property with values of a seed that the failure names. */
export function holds<Values>(property: fc.IProperty<Values>, numRuns = RUNS): void {
  const seed = seedOf()
  fc.assert(property, { seed, numRuns })
}

/** As `holds`, for an asynchronous property. */
export async function holdsAsync<Values>(
  property: fc.IAsyncProperty<Values>,
  numRuns = RUNS,
): Promise<void> {
  await fc.assert(property, { seed: seedOf(), numRuns })
}

/** `TEST_SEED` repeats a run. Each seed is printed, also on success. */
function seedOf(): number {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stderr.write(`fast-check seed ${seed}\n`)
  return seed
}
