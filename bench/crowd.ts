import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Db } from '../db/client/connect.js'
import { createCallers, type Answered } from './callers.js'
import { pidsOf, readCpu, spent, type Cpu } from './usage.js'
import type { StackFacts, Stack } from '../test/e2e/stack.js'

/** A query takes Postgres 2 ms with thousands of stored intents. */
const POLL_MS = 500
const UNLIMITED = 1_000_000_000
/** The chain of the test money, so that a lend is one transaction. */
export const LEND_CHAIN = 'arbitrum-sepolia'

/** Concurrent clients of a stack, and access to observe it. */
export type Crowd = {
  db: Db
  facts: StackFacts
  callers: ReturnType<typeof createCallers>
  pids: Record<string, number>
}

/** `seconds`: from the first POST to the last finished intent. */
export type Run = { seconds: number; posts: Answered[]; failed: number; cpu: Cpu }

/** Clients of the demo account, whose rate limit and credits are raised. */
export async function gatherCrowd(stack: Stack, connections: number): Promise<Crowd> {
  const { facts } = stack
  const db = connect(facts.databaseUrl, 2)
  await db('account').update({ rpm: UNLIMITED, purchased: UNLIMITED })
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
  const created = await callers.postEach(names, '/wallets', (userId) => ({ userId, metadata: {} }))
  return created.map(({ body }) => String(body.id))
}

/** Funds each wallet with test money. */
export const fundAll = (crowd: Crowd, wallets: string[]): Promise<Run> =>
  runAll(crowd, {
    ...{ table: 'funding', items: wallets, path: '/demo/fund' },
    bodyOf: (walletId) => ({ walletId }),
  })

/** One lend per wallet. `amount`: whole USDC. */
export const lendAll = (crowd: Crowd, wallets: string[], amount: number): Promise<Run> =>
  runAll(crowd, {
    ...{ table: 'intent', items: wallets, path: '/intents' },
    bodyOf: (walletId) => ({ walletId, asset: 'USDC', action: 'lend', amount, chain: LEND_CHAIN }),
  })

/** Waits until lends are planned at creation again. After an outage the chain index has to catch up first. */
export async function untilPlanning({ callers }: Crowd, walletId: string): Promise<void> {
  const lend = { walletId, asset: 'USDC', action: 'lend', amount: 0.001, chain: LEND_CHAIN }
  while (!isPlanned(await callers.post('/intents?dryRun=true', lend))) await sleep(POLL_MS)
}

const isPlanned = ({ body }: Answered) => body.executionPlan !== undefined

type Batch = {
  table: 'intent' | 'funding'
  items: string[]
  path: string
  bodyOf: (item: string) => object
}

/** Posts all at once and waits until the last intent has finished. */
async function runAll({ db, callers, pids }: Crowd, batch: Batch): Promise<Run> {
  const { table, items, path, bodyOf } = batch
  const since = Date.now()
  const before = readCpu(pids)
  const posts = await callers.postEach(items, path, bodyOf)
  const created = () => db(table).where('created_at', '>=', new Date(since))
  const open = table === 'intent' ? `status not in ('completed', 'failed')` : 'completed_at is null'
  while (await created().whereRaw(open).first<{ id: string } | undefined>('id')) {
    await sleep(POLL_MS)
  }
  const cpu = spent(before, readCpu(pids))
  const ends = await created().whereNotNull('completed_at').pluck<Date[]>('completed_at')
  const last = Math.max(...ends.map((end) => end.getTime()))
  return { seconds: (last - since) / 1_000, posts, failed: items.length - ends.length, cpu }
}
