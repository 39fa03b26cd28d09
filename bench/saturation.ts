import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect, type Db } from '../db/connection/connect.js'
import { createHome, removeHome, startStack, type Facts } from '../test/e2e/stack.js'
import { createCallers, quantile, type Answered } from './callers.js'
import { profiling } from './profiles.js'
import { dumpChains, runTwin, type TwinResult } from './twin.js'
import { countStatements, forgetStatements, reportStatements } from './statements.js'
import { pidsOf, readThreads, readCpu, readMemory, spent, sum, type Cpu } from './usage.js'

/**
 * Many wallets are funded at once, then each of them wants something at the same moment: how many intents a second,
 * and where the CPU of an intent goes. Beside it its twin on the same machine: workflows that do nothing, and the same
 * bundles sent by a script.
 */
const { values } = parseArgs({
  options: {
    wallets: { type: 'string', default: '200' },
    connections: { type: 'string', default: '32' },
    kind: { type: 'string', default: 'lend' },
    /** A folder for profiles of what is ours, which are then printed. They cost time of their own. */
    profile: { type: 'string' },
  },
})
const WALLETS = Number(values.wallets)
const CONNECTIONS = Number(values.connections)
/** `lend` on the chain where the money is, `bridge`: lend on another one, `withdraw` what was lent. */
const KIND = values.kind as keyof typeof wishes
const POLL_MS = 250
const IDLE_MS = 3_000
/** Until a process has written its profile. */
const WRITING_MS = 2_000
const services = ['api', 'worker', 'lanes', 'signer']

const ARBITRUM = 'arbitrum-sepolia'
const wishes = {
  lend: { action: 'lend', amount: 0.5, chain: ARBITRUM },
  bridge: { action: 'lend', amount: 0.5, chain: 'base-sepolia' },
  withdraw: { action: 'withdraw', amount: 0.25, chain: ARBITRUM },
}
/** Of a lend on two cores that everything shares. */
const goals = {
  perSecond: 25,
  shareOfTwin: 0.65,
  postP99Ms: 500,
  operationsPerBundle: 8,
  cpuMs: 75,
  fundingsPerSecond: 25,
}

type Pids = Record<string, number>
type Bench = { db: Db; facts: Facts; callers: ReturnType<typeof createCallers>; pids: Pids }
type Run = {
  seconds: number
  posts: Answered[]
  doneMs: number[]
  failed: number
  cpu: Cpu
  since: number
}

/** Not who asks, and not what stands for the makers of blocks and attestations. */
const isService = (name: string) => !['bench', 'devnet'].includes(name)

const ms = (value: number) => Math.round(value)
const runIntents = (bench: Bench, wallets: string[], kind: keyof typeof wishes) =>
  runAll(bench, {
    ...{ table: 'intent', items: wallets, path: '/intents' },
    bodyOf: (walletId) => ({ walletId, asset: 'USDC', ...wishes[kind] }),
  })

const profiles = profiling(values.profile)
const home = await createHome()
const stack = await startStack(home, profiles.env)
try {
  await measure(stack.facts)
} finally {
  await stack.stop()
  removeHome(home)
}

async function measure(facts: Facts): Promise<void> {
  if (values.profile) await countStatements(stack)
  const db = connect(facts.databaseUrl, 2)
  await db('account').update({ rpm: 1_000_000_000, purchased: 1_000_000_000 })
  const callers = createCallers(facts, CONNECTIONS)
  const bench = { db, facts, callers, pids: pidsOf(stack.readFacts().pids) }
  const wallets = await openWallets(bench)
  const funding = await runAll(bench, {
    ...{ table: 'funding', items: wallets, path: '/demo/fund' },
    bodyOf: (walletId) => ({ walletId }),
  })
  tell('fundings', funding)
  if (KIND === 'withdraw') tell('lends before them', await runIntents(bench, wallets, 'lend'))
  const dumps = await dumpChains(facts.rpcUrls)
  const idle = await measureIdle(bench.pids)
  const run = await profiled(bench, () => runIntents(bench, wallets, KIND))
  const [memory, bundles] = [readMemory(bench.pids), await readBundling(db, run.since)]
  const twin = await runBeside(bench, () => {
    const ran = { db, facts, pids: bench.pids, since: run.since }
    return runTwin(ran, { dumps, connections: CONNECTIONS })
  })
  report({ run, funding, bundles, twin, idle, memory })
  callers.stop()
  await db.destroy()
}

/** What is ours takes nothing from the twin. */
async function runBeside<T>(bench: Bench, work: () => Promise<T>): Promise<T> {
  const ours = pidsIn(bench, services)
  for (const pid of ours) process.kill(pid, 'SIGSTOP')
  return work().finally(() => {
    for (const pid of ours) process.kill(pid, 'SIGCONT')
  })
}

function pidsIn({ pids }: Bench, names: string[]): number[] {
  return names.map((name) => pids[name] ?? 0)
}

/** Prints where the time of a run went, when that was asked for. */
async function profiled(bench: Bench, work: () => Promise<Run>): Promise<Run> {
  if (!values.profile) return work()
  const own = pidsIn(bench, [...services, 'devnet'])
  const before = own.map(readThreads)
  await forgetStatements(bench.db)
  profiles.toggle(own)
  const run = await work()
  profiles.toggle(own)
  await sleep(WRITING_MS)
  const threads = own.map((pid, i) => spent(before[i] ?? {}, readThreads(pid)))
  await reportStatements(bench.db, WALLETS)
  for (const [i, name] of [...services, 'devnet'].entries()) {
    profiles.report({ name, pid: own[i] ?? 0 }, { threads: threads[i] ?? {}, intents: WALLETS })
  }
  return run
}

async function openWallets({ callers }: Bench): Promise<string[]> {
  const names = Array.from({ length: WALLETS }, (_, i) => `bench ${i}`)
  const begun = performance.now()
  const made = await callers.postEach(names, '/wallets', (userId) => ({ userId, metadata: {} }))
  const seconds = (performance.now() - begun) / 1_000
  console.log(`${WALLETS} wallets: ${(WALLETS / seconds).toFixed(0)} a second`)
  return made.map(({ body }) => String(body.id))
}

type Batch = {
  table: 'intent' | 'funding'
  items: string[]
  path: string
  bodyOf: (item: string) => object
}

/** Posts all at once and waits until the last one is over. */
async function runAll({ db, callers, pids }: Bench, batch: Batch): Promise<Run> {
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

async function measureIdle(pids: Pids): Promise<Cpu> {
  const before = readCpu(pids)
  await sleep(IDLE_MS)
  const used = spent(before, readCpu(pids))
  return Object.fromEntries(Object.entries(used).map(([name, s]) => [name, s / (IDLE_MS / 1_000)]))
}

/** Operations and transactions that carried them. */
async function readBundling(db: Db, since: number) {
  const { rows } = await db.raw<{ rows: { operations: number; bundles: number }[] }>(
    `select count(*)::int as operations, count(distinct tx_id)::int as bundles
     from operation where created_at >= ? and tx_id is not null`,
    [new Date(since)],
  )
  return rows[0] ?? { operations: 0, bundles: 0 }
}

function tell(what: string, { seconds, posts, doneMs, failed }: Run): void {
  const took = posts.map(({ tookMs }) => tookMs)
  console.log(
    `${posts.length} ${what}: ${(posts.length / seconds).toFixed(1)} a second, POST p50 ` +
      `${ms(quantile(took, 0.5))} ms, p99 ${ms(quantile(took, 0.99))} ms, done p50 ` +
      `${ms(quantile(doneMs, 0.5))} ms, p99 ${ms(quantile(doneMs, 0.99))} ms, failed ${failed}`,
  )
}

type Measured = {
  run: Run
  funding: Run
  bundles: { operations: number; bundles: number }
  twin: TwinResult
  idle: Cpu
  memory: Record<string, number>
}

function report({ run, funding, bundles, twin, idle, memory }: Measured): void {
  tell(`${KIND}s`, run)
  const perIntent = (cpu: Cpu) =>
    Object.fromEntries(Object.entries(cpu).map(([name, s]) => [name, (s * 1_000) / WALLETS]))
  const own = perIntent(run.cpu)
  const rows = Object.keys(run.cpu).map((name) => [
    name,
    {
      'CPU ms per intent': Number(own[name]?.toFixed(1)),
      'share of a core, idle': Number(idle[name]?.toFixed(3)),
      'MB at the end': ms(memory[name] ?? 0),
    },
  ])
  console.table(Object.fromEntries(rows))
  console.log('the twin, CPU ms per workflow:', perIntent(twin.cpu))
  const figures = {
    perSecond: WALLETS / run.seconds,
    shareOfTwin: WALLETS / run.seconds / twin.perSecond,
    postP99Ms: quantile(
      run.posts.map(({ tookMs }) => tookMs),
      0.99,
    ),
    operationsPerBundle: bundles.operations / bundles.bundles,
    cpuMs: sum(
      Object.keys(own)
        .filter(isService)
        .map((name) => own[name] ?? 0),
    ),
    fundingsPerSecond: WALLETS / funding.seconds,
  }
  console.log(
    `${bundles.operations} operations in ${bundles.bundles} bundles; the twin: ${twin.perSecond.toFixed(1)} a second`,
  )
  console.table(
    Object.fromEntries(
      Object.entries(figures).map(([name, value]) => [
        name,
        { value: Number(value.toFixed(2)), goal: goals[name as keyof typeof goals] },
      ]),
    ),
  )
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores.`)
  if (run.failed > 0 || (KIND === 'lend' && !isReached(figures))) process.exitCode = 1
}

function isReached(figures: typeof goals): boolean {
  const most = ['postP99Ms', 'cpuMs'] as const
  const least = ['perSecond', 'shareOfTwin', 'operationsPerBundle', 'fundingsPerSecond'] as const
  return (
    most.every((name) => figures[name] <= goals[name]) &&
    least.every((name) => figures[name] >= goals[name])
  )
}
