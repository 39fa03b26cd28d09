import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Db } from '../db/connection/connect.js'
import { createCallers, quantile, type Answered } from './callers.js'
import { pidsOf, readCpu, spent, type Cpu } from './usage.js'
import type { Facts, Stack } from '../test/e2e/stack.js'

/** A look takes Postgres 2 ms when thousands are stored. */
const POLL_MS = 500
const ARBITRUM = 'arbitrum-sepolia'

/** `lend` on the chain where test money comes to, `bridge`: lend on another one, `withdraw` what was lent. */
export type Kind = 'lend' | 'bridge' | 'withdraw'

/** What many callers do to a stack, and what they look at it by. */
export type Crowd = {
  db: Db
  facts: Facts
  callers: ReturnType<typeof createCallers>
  pids: Record<string, number>
}

/** `since`: Unix time, ms. `doneMs`: from POST to the end, of those that have one. */
export type Run = {
  seconds: number
  posts: Answered[]
  doneMs: number[]
  failed: number
  cpu: Cpu
  since: number
}

/** Callers of the demo account, which no limit holds up. */
export async function gatherCrowd(stack: Stack, connections: number): Promise<Crowd> {
  const { facts } = stack
  const db = connect(facts.databaseUrl, 2)
  await db('account').update({ rpm: 1_000_000_000, purchased: 1_000_000_000 })
  const callers = createCallers(facts, connections)
  return { db, facts, callers, pids: pidsOf(stack.readFacts().pids) }
}

export async function dismiss({ db, callers }: Crowd): Promise<void> {
  callers.hangUp()
  await db.destroy()
}

/** @returns Ids of new wallets. */
export async function openWallets({ callers }: Crowd, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `bench ${i}`)
  const begun = performance.now()
  const made = await callers.postEach(names, '/wallets', (userId) => ({ userId, metadata: {} }))
  const seconds = (performance.now() - begun) / 1_000
  console.log(`${count} wallets: ${(count / seconds).toFixed(0)} a second`)
  return made.map(({ body }) => String(body.id))
}

/** Gives each wallet its test money. */
export const fundAll = (crowd: Crowd, wallets: string[]): Promise<Run> =>
  runAll(crowd, {
    ...{ table: 'funding', items: wallets, path: '/demo/fund' },
    bodyOf: (walletId) => ({ walletId }),
  })

/** One intent of each wallet. */
export function runIntents(
  crowd: Crowd,
  wallets: string[],
  { kind, amount }: { kind: Kind; amount: number },
): Promise<Run> {
  const action = kind === 'withdraw' ? 'withdraw' : 'lend'
  const chain = kind === 'bridge' ? 'base-sepolia' : ARBITRUM
  return runAll(crowd, {
    ...{ table: 'intent', items: wallets, path: '/intents' },
    bodyOf: (walletId) => ({ walletId, asset: 'USDC', action, amount, chain }),
  })
}

type Batch = {
  table: 'intent' | 'funding'
  items: string[]
  path: string
  bodyOf: (item: string) => object
}

/** Posts all at once and waits until the last one is over. */
async function runAll({ db, callers, pids }: Crowd, batch: Batch): Promise<Run> {
  const { table, items, path, bodyOf } = batch
  const since = Date.now()
  const before = readCpu(pids)
  const posts = await callers.postEach(items, path, bodyOf)
  const live = table === 'intent' ? `status not in ('completed', 'failed')` : 'completed_at is null'
  const fresh = () => db(table).where('created_at', '>=', new Date(since))
  while (await fresh().whereRaw(live).first<{ id: string } | undefined>('id')) await sleep(POLL_MS)
  const cpu = spent(before, readCpu(pids))
  const rows = await fresh().select<{ id: string; completed_at: Date | null }[]>(
    'id',
    'completed_at',
  )
  const ends = new Map(rows.map((row) => [row.id, row.completed_at?.getTime()]))
  const doneMs = posts.flatMap(({ body, sentAt }) => {
    const end = ends.get(String(body.id))
    return end === undefined ? [] : [end - sentAt]
  })
  const last = Math.max(...[...ends.values()].map((end) => end ?? 0))
  const seconds = (last - since) / 1_000
  return { seconds, posts, doneMs, failed: items.length - doneMs.length, cpu, since }
}

/** Prints what callers have seen of a run. */
export function tell(what: string, { seconds, posts, doneMs, failed }: Run): void {
  const took = posts.map(({ tookMs }) => tookMs)
  const [post, done] = [took, doneMs].map((all) =>
    [0.5, 0.99].map((share) => quantile(all, share).toFixed(0)),
  )
  console.log(
    `${posts.length} ${what}: ${(posts.length / seconds).toFixed(1)} a second, POST p50 ${post?.[0]} ms, ` +
      `p99 ${post?.[1]} ms, done p50 ${done?.[0]} ms, p99 ${done?.[1]} ms, failed ${failed}`,
  )
}
