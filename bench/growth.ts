import { mkdtempSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { quantile } from './callers.js'
import { probes, type GrowthProbe } from './growth/probes.js'
import { createWorlds, type GrowthWorld } from './growth/worlds.js'

/**
 * The same calls, and the same statements of signer, relayer and sweeper, on databases of different sizes: a thousand
 * stored intents and many more, with a tenth as many wallets and proportional other rows. The chains do not answer.
 *
 * Judged by the pages read from tables and indexes, which are independent of other load, and by p99. Calls alternate
 * between the databases, so that a busy moment of the machine affects all. A result that seems slower is measured
 * again, and the median of all rounds counts. Statements are rolled back, and their dead rows are removed before each
 * round.
 */
const { values } = parseArgs({
  options: {
    intents: { type: 'string', default: '1000,100000' },
    rounds: { type: 'string', default: '3' },
    calls: { type: 'string', default: '100' },
    /** Parts of names, separated by commas. */
    only: { type: 'string', default: '' },
    /** Counts pages only, which needs no quiet machine. */
    pages: { type: 'boolean', default: false },
  },
})
const SIZES = values.intents.split(',').map(Number)
const ROUNDS = Number(values.rounds)
const CALLS = Number(values.calls)
/** Warm-up calls, which fill plan caches and compile code, and calls whose pages are counted. */
const WARM_UP = 100
const COUNTED = 20
/** The garbage of this process is collected after so many calls, so that no timed call pays for it. */
const COLLECTED_EVERY = 10
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
/** Rounds of a probe that seems slower. */
const REPEATS = 3
/** Goal: p99 of the biggest database as a share of the smallest. */
const MAX_RATIO = 1.2
/**
 * Goal for pages. An index of a million rows is two levels deeper than one of a thousand, so a lookup reads up to
 * twice as many pages. A scan reads a thousand times as many.
 */
const MAX_PAGES_RATIO = 2
const MORE_PAGES = 40

type PageCounts = { pages: number[]; came: string[] }
/** p50 and p99 of each round by world, ms. */
type Timed = { p50: number[][]; p99: number[][] }
type GrowthLine = { name: string; counted: PageCounts; timed: Timed }

const isAsked = ({ name }: GrowthProbe) =>
  values.only.split(',').some((part) => name.includes(part))

/** Calls of each probe so far. A call never uses a row that an earlier call has changed. */
const made = new Map<string, number>()

function nextOf({ name }: GrowthProbe): number {
  const n = made.get(name) ?? 0
  made.set(name, n + 1)
  return n
}

async function count(probe: GrowthProbe, worlds: GrowthWorld[]): Promise<PageCounts> {
  const counted: PageCounts = { pages: [], came: [] }
  for (let n = 0; n < WARM_UP; n++) await runBeside(probe, worlds)
  const from = made.get(probe.name) ?? 0
  for (const world of worlds) {
    const before = await world.readPages()
    let came = ''
    for (let n = from; n < from + COUNTED; n++) ({ came } = await probe.run(world, n))
    counted.pages.push(Math.round(((await world.readPages()) - before) / COUNTED))
    counted.came.push(came)
  }
  made.set(probe.name, from + COUNTED)
  return counted
}

/** @returns Duration of one call in each world, ms. Each world comes first equally often. */
async function runBeside(probe: GrowthProbe, worlds: GrowthWorld[]): Promise<number[]> {
  const n = nextOf(probe)
  const took: number[] = []
  for (let k = 0; k < worlds.length; k++) {
    const at = (n + k) % worlds.length
    took[at] = (await probe.run(worlds[at] as GrowthWorld, n)).ms
  }
  return took
}

async function addRounds(timed: Timed, probe: GrowthProbe, worlds: GrowthWorld[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const world of worlds) await world.clean()
    const times: number[][] = worlds.map(() => [])
    for (let n = 0; n < CALLS; n++) {
      if (n % COLLECTED_EVERY === 0) collect({ type: 'minor' })
      for (const [at, ms] of (await runBeside(probe, worlds)).entries()) times[at]?.push(ms)
    }
    for (const [at, one] of times.entries()) {
      timed.p50[at] = [...(timed.p50[at] ?? []), quantile(one, 0.5)]
      timed.p99[at] = [...(timed.p99[at] ?? []), quantile(one, 0.99)]
    }
  }
}

const medianOf = (rounds: number[] | undefined) => quantile(rounds ?? [], 0.5)

function ratioOf(rounds: number[][]): number {
  return medianOf(rounds.at(-1)) / medianOf(rounds[0])
}

async function measure(probe: GrowthProbe, worlds: GrowthWorld[]): Promise<GrowthLine> {
  const counted = await count(probe, worlds)
  const timed: Timed = { p50: [], p99: [] }
  for (let repeat = 0; repeat < REPEATS && !values.pages; repeat++) {
    await addRounds(timed, probe, worlds)
    if (ratioOf(timed.p99) <= MAX_RATIO) break
  }
  const line = { name: probe.name, counted, timed }
  const times = values.pages ? '' : `p99 ${ratioOf(timed.p99).toFixed(2)}`
  console.log(`${probe.name}: pages ${counted.pages.join(' ')} ${times} ${wrongWith(line).join()}`)
  return line
}

/** The goals that a line misses. */
function wrongWith({ counted: { pages, came }, timed }: GrowthLine): string[] {
  const [few = NaN, many = NaN] = [pages[0], pages.at(-1)]
  return [
    ...(many <= MAX_PAGES_RATIO * few + MORE_PAGES ? [] : ['pages']),
    ...(values.pages || ratioOf(timed.p99) <= MAX_RATIO ? [] : ['p99']),
    ...(new Set(came).size === 1 ? [] : [`answers ${came.join(' ')}`]),
  ]
}

function toRow({ name, counted: { pages, came }, timed }: GrowthLine) {
  const round = (ms: number) => Number(ms.toFixed(2))
  const columns = SIZES.flatMap((size, at) => [
    [`pages ${size}`, pages[at]],
    ...(values.pages ? [] : [[`p99 ${size}`, round(medianOf(timed.p99[at]))]]),
  ])
  const ratios = { 'p50 ratio': round(ratioOf(timed.p50)), 'p99 ratio': round(ratioOf(timed.p99)) }
  return {
    ...{ name, came: came[0] },
    ...(Object.fromEntries(columns) as Record<string, number>),
    ...(values.pages ? {} : ratios),
  }
}

const { worlds, stop } = await createWorlds(mkdtempSync(join(tmpdir(), 'steward-growth-')), SIZES)
try {
  const lines: GrowthLine[] = []
  for (const probe of probes.filter(isAsked)) lines.push(await measure(probe, worlds))
  console.table(lines.map(toRow))
  const missed = lines.filter((line) => wrongWith(line).length > 0)
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)}`)
  for (const line of missed) console.log(`missed: ${line.name}: ${wrongWith(line).join(', ')}`)
  console.log(`Verdict: ${missed.length === 0 ? 'met' : `missed by ${missed.length}`}`)
  if (missed.length > 0) process.exitCode = 1
} finally {
  await stop()
}
