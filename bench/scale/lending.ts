import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns, type Call } from './clients.js'
import { watchProcesses, type Usage } from './processes.js'
import { countsSince, readCounts, type Counts } from './serverMetrics.js'
import { readWork, type Work } from './stores.js'
import type { Db } from '../../db/connection/connect.js'
import type { Notes } from '../../test/chaos/clients.js'
import type { Stack } from '../../test/e2e/stack.js'
import type { Wallet } from './wallets.js'

/** Times are milliseconds; `done` from the row of an intent to its completion, `posts` from a POST to its answer. */
export type Round = {
  name: string
  intents: number
  completed: number
  seconds: number
  posts: number[]
  done: number[]
  /** The longest time between two completions. */
  pauseMs: number
  usage: Map<string, Usage>
  /** By database server. */
  work: Map<string, Work>
  /** By Temporal's server; empty when it is none of ours. */
  counts: Counts
  killed: string[]
}

type Scene = { stack: Stack; db: Db; call: Call; notes: Notes; wallets: Wallet[] }
type Order = { name: string; connections: number; kill: readonly string[] }

const CHAIN = 'arbitrum-sepolia'
/** A share of the intents: then the kills come, while the rest is under way. */
const KILL_AFTER = 1 / 3
const LOOK_EVERY_MS = 100
/** Without any completion for so long nothing more will come. */
const PATIENCE_MS = 90_000

/** Lends once from each wallet, all at once over so many connections, and ends processes in the middle. */
export async function lendFromAll(scene: Scene, order: Order): Promise<Round> {
  const { stack, call, wallets, notes } = scene
  const posts: number[] = []
  const ids: string[] = []
  const stores = storesOf(stack)
  const before = await readWorkOf(stores)
  const countsBefore = await readCountsOf(stack)
  const watch = watchProcesses(() => readPids(stack))
  const posting = inTurns(wallets, order.connections, async (wallet) => {
    const key = `${order.name} ${wallet.id}`
    const body = { action: 'lend', amount: 1, chain: CHAIN } as const
    const begun = performance.now()
    const answer = await call('/intents', { walletId: wallet.id, ...body }, key)
    posts.push(performance.now() - begun)
    const id = String(answer.body.id)
    if (answer.status !== 201) notes.faults.push(`${key}: ${answer.status}`)
    else {
      ids.push(id)
      notes.ordered.push({ id, key, wallet, body, seen: [] })
    }
  })
  const killed = await killWhen(scene, order, wallets.length * KILL_AFTER)
  await posting
  await untilQuiet(scene.db, ids)
  const usage = watch.read()
  watch.stop()
  const work = subtract(await readWorkOf(stores), before)
  const counts = countsSince(countsBefore, await readCountsOf(stack))
  const times = await readTimes(scene.db, ids)
  return { name: order.name, intents: ids.length, posts, usage, work, counts, killed, ...times }
}

const readCountsOf = async ({ facts: { temporalCluster } }: Stack): Promise<Counts> =>
  temporalCluster ? readCounts(temporalCluster.metricsUrl) : new Map()

function storesOf({ facts }: Stack): [string, string][] {
  const { databaseUrl, temporalCluster } = facts
  const temporal: [string, string][] = temporalCluster
    ? [['temporal-postgres', temporalCluster.databaseUrl]]
    : []
  return [['postgres', databaseUrl], ...temporal]
}

async function readWorkOf(stores: [string, string][]): Promise<Map<string, Work>> {
  const all = stores.map(async ([name, url]) => [name, await readWork(url)] as const)
  return new Map(await Promise.all(all))
}

function subtract(after: Map<string, Work>, before: Map<string, Work>): Map<string, Work> {
  const entries = [...after].map(([name, work]) => {
    const since = (key: keyof Work) => work[key] - (before.get(name)?.[key] ?? 0)
    const done = {
      commits: since('commits'),
      walBytes: since('walBytes'),
      storedBytes: since('storedBytes'),
    }
    return [name, done] as const
  })
  return new Map(entries)
}

/** Those of the chains are one: the devnet is not what is measured. */
function readPids(stack: Stack): Record<string, number> {
  const { anvil, ...others } = stack.readFacts().pids as unknown as Record<string, unknown> & {
    anvil: Record<string, number>
  }
  const entries = [...Object.entries(others), ...Object.entries(anvil)]
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}

async function killWhen({ stack, db }: Scene, { kill }: Order, completed: number) {
  if (kill.length === 0) return []
  const before = await countCompleted(db)
  while ((await countCompleted(db)) - before < completed) await sleep(LOOK_EVERY_MS)
  const pids = readPids(stack)
  for (const name of kill) process.kill(pids[name] ?? 0, 'SIGKILL')
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
