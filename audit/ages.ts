import { setTimeout as sleep } from 'node:timers/promises'
import { pageAged, readAged, type Aged, type Bounds } from '../db/audit/ages.js'
import { pagesOf } from './pages.js'
import { DAY_MS, HOUR_MS } from '../durations.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/**
 * What is signed is mined within minutes, whatever its fee was at first. An intent whose step nobody signs is given
 * up after a day: whoever is older waits for the bridge, for an operator, or for nobody.
 */
const USUAL: Bounds = {
  signedMs: HOUR_MS,
  refillMs: HOUR_MS,
  intentMs: DAY_MS,
  reservationMs: DAY_MS,
}

const allOf = (ms: number): Bounds => ({
  ...{ signedMs: ms, refillMs: ms, intentMs: ms, reservationMs: ms },
})

const mends: Record<Aged['kind'], string> = {
  intent: 'Look at its workflow, and at what it waits for.',
  operation: 'Look at the log of the lanes, and whether the chain is paused.',
  refill: 'Look at the log of the lanes, and whether the treasury has ETH.',
  reservation: 'Nobody else can spend the money until then. Look at the operations of the intent.',
}

/** What is open for longer than it may be: since when, and what it waits for. */
export async function* auditAges(tools: AuditTools): AsyncGenerator<Difference> {
  const { db, progress, againMs, olderThanMs } = tools
  const bounds = olderThanMs === undefined ? USUAL : allOf(olderThanMs)
  progress('what is open for long')
  const read = (page: { after: string; limit: number }) => pageAged(db, bounds, page)
  for await (const page of pagesOf(read, ({ key }) => key)) {
    await sleep(againMs)
    // It may have ended meanwhile.
    const keys = page.map(({ key }) => key)
    const still = new Set((await readAged(db, bounds, keys)).map(({ key }) => key))
    for (const one of page.filter(({ key }) => still.has(key))) yield toDifference(tools, one)
  }
}

function toDifference({ chains }: AuditTools, aged: Aged): Difference {
  const { kind, id, chainId, state, since, waits } = aged
  const place = chainId === null ? '' : ` on ${chains.byId(chainId).chain.name}`
  const about = kind === 'refill' ? `refill of lane ${id}${place}` : `${kind} ${id}${place}`
  const row = `${state} since ${since.toISOString()}`
  return { check: 'ages', about, row, chain: `waits for ${waits}`, mend: mends[kind] }
}
