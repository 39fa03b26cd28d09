import { setTimeout as sleep } from 'node:timers/promises'
import { countAttempts } from '../histories.js'
import { inTurns, type PostRequest } from './clients.js'
import { readCounters, since, type Counters, type Metered } from './counters.js'
import { readShares, type Shares } from './shares.js'
import type { Db } from '../../db/client/connect.js'
import type { Notes } from '../../test/chaos/clients.js'
import type { BenchWallet } from './wallets.js'

/** Times in ms. `done`: from the row of an intent to its completion. `posts`: from a POST to its response. */
export type LendingRound = {
  name: string
  ids: string[]
  completed: number
  seconds: number
  posts: number[]
  done: number[]
  /** The longest time between two completions. */
  pauseMs: number
  /** Usage until the last intent was completed, by resource. */
  used: Counters
  shares: Shares
  killed: string[]
}

export type LendingScene = Metered & {
  replicas: number
  db: Db
  call: PostRequest
  notes: Notes
  wallets: BenchWallet[]
}
type RoundSettings = { name: string; connections: number; kill: readonly string[] }

const CHAIN = 'arbitrum-sepolia'
/** Share of completed intents at which processes are killed. */
const KILL_AFTER = 1 / 3
const LOOK_EVERY_MS = 100
/** A round ends when no intent has completed for this long. */
const PATIENCE_MS = 90_000

/** Lends once from each wallet, all at once over the given connections, and kills processes in the middle. */
export async function lendFromAll(
  scene: LendingScene,
  order: RoundSettings,
): Promise<LendingRound> {
  const { wallets, watch, stack } = scene
  const orders: PostedIntents = { ids: [], posts: [] }
  const countersBefore = await readCounters(scene)
  const begunAt = Date.now()
  const posting = inTurns(wallets, order.connections, (wallet) =>
    post(scene, orders, { order: order.name, wallet }),
  )
  const killed = await killWhen(scene, order, wallets.length * KILL_AFTER)
  await posting
  const { ids, posts } = orders
  await untilQuiet(scene.db, ids)
  const used = since(countersBefore, await readCounters(scene))
  const byPid = await countAttempts(stack.facts, ids)
  const attempts = new Map([...byPid].map(([pid, count]) => [watch.nameOf(pid) ?? '', count]))
  const shares = readShares(stack, { replicas: scene.replicas, since: begunAt, attempts })
  const times = await readTimes(scene.db, ids)
  return { name: order.name, ids, posts, used, shares, killed, ...times }
}

type PostedIntents = { ids: string[]; posts: number[] }

async function post(
  { call, notes }: LendingScene,
  { ids, posts }: PostedIntents,
  { order, wallet }: { order: string; wallet: BenchWallet },
): Promise<void> {
  const key = `${order} ${wallet.id}`
  const body = { action: 'lend', amount: 1, chain: CHAIN } as const
  const begun = performance.now()
  const answer = await call('/intents', { walletId: wallet.id, ...body }, key)
  posts.push(performance.now() - begun)
  const id = String(answer.body.id)
  if (answer.status !== 201) {
    notes.faults.push(`${key}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
    return
  }
  ids.push(id)
  notes.ordered.push({ id, key, wallet, body, seen: [] })
}

async function killWhen({ watch, db }: LendingScene, { kill }: RoundSettings, completed: number) {
  if (kill.length === 0) return []
  const before = await countCompleted(db)
  while ((await countCompleted(db)) - before < completed) await sleep(LOOK_EVERY_MS)
  const pids = watch.readPids()
  for (const name of kill) process.kill(pids[name] ?? NaN, 'SIGKILL')
  return [...kill]
}

async function countCompleted(db: Db): Promise<number> {
  const row = await db('intent')
    .where({ status: 'completed' })
    .first<{ count: number }>(db.raw('count(*)::int as count'))
  return row.count
}

async function untilQuiet(db: Db, ids: string[]): Promise<void> {
  let last = { open: -1, at: Date.now() }
  for (;;) {
    const open = await db('intent')
      .whereIn('id', ids)
      .whereNotIn('status', ['completed', 'failed'])
      .pluck<string[]>('id')
    if (open.length === 0) return
    if (open.length !== last.open) last = { open: open.length, at: Date.now() }
    if (Date.now() - last.at > PATIENCE_MS) return
    await sleep(LOOK_EVERY_MS)
  }
}

async function readTimes(db: Db, ids: string[]) {
  const rows = await db('intent')
    .whereIn('id', ids)
    .whereNotNull('completed_at')
    .select<{ created_at: Date; completed_at: Date }[]>('created_at', 'completed_at')
  const ends = rows.map(({ completed_at }) => completed_at.getTime()).sort((a, b) => a - b)
  const begun = Math.min(...rows.map(({ created_at }) => created_at.getTime()))
  return {
    completed: rows.length,
    seconds: ((ends.at(-1) ?? begun) - begun) / 1_000,
    done: rows.map((row) => row.completed_at.getTime() - row.created_at.getTime()),
    pauseMs: Math.max(0, ...ends.map((end, i) => end - (ends[i - 1] ?? end))),
  }
}
