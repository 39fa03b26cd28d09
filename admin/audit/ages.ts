import { setTimeout as sleep } from 'node:timers/promises'
import { pageAged, readAged, type Aged, type Bounds } from './rows/ages.js'
import { pagesOf } from './pages.js'
import { DAY_MS, HOUR_MS } from '../../runtime/durations.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/**
 * Ages above which an open row is reported. Signed operations are included within minutes, because the signer raises
 * their fees. An intent with an unsigned step expires after a day. An older one waits for the bridge, for an operator, or
 * is stuck.
 */
const DEFAULT_BOUNDS: Bounds = {
  signedMs: HOUR_MS,
  refillMs: HOUR_MS,
  intentMs: DAY_MS,
  reservationMs: DAY_MS,
}

const allOf = (ms: number): Bounds => ({
  ...{ signedMs: ms, refillMs: ms, intentMs: ms, reservationMs: ms },
})

const remedies: Record<Aged['kind'], string> = {
  intent: 'Check its workflow and its wait reason.',
  operation: 'Check the log of the relayer, and whether the chain is paused.',
  refill: 'Check the log of the relayer, and whether the treasury has ETH.',
  reservation: 'The money is blocked until its release. Check the operations of the intent.',
}

/** Reports rows that are open for too long, with their age and wait reason. */
export async function* auditAges(tools: AuditTools): AsyncGenerator<Difference> {
  const { db, progress, againMs, olderThanMs } = tools
  const bounds = olderThanMs === undefined ? DEFAULT_BOUNDS : allOf(olderThanMs)
  progress('old open rows')
  const read = (page: { after: string; limit: number }) => pageAged(db, bounds, page)
  for await (const page of pagesOf(read, ({ key }) => key)) {
    await sleep(againMs)
    // A row may have finished meanwhile.
    const keys = page.map(({ key }) => key)
    const still = new Set((await readAged(db, bounds, keys)).map(({ key }) => key))
    for (const one of page.filter(({ key }) => still.has(key))) yield toDifference(tools, one)
  }
}

function toDifference({ chains }: AuditTools, aged: Aged): Difference {
  const { kind, id, chainId, state, since, waits } = aged
  const place = chainId === null ? '' : ` on ${chains.byId(chainId).chain.name}`
  const about = kind === 'refill' ? `refill of sender ${id}${place}` : `${kind} ${id}${place}`
  const row = `${state} since ${since.toISOString()}`
  return { check: 'ages', about, row, chain: `waits for ${waits}`, remedy: remedies[kind] }
}
