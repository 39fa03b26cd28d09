import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createHome, removeHome, startStack } from '../test/e2e/stack.js'
import { quantile } from './callers.js'
import {
  dismiss,
  fundAll,
  gatherCrowd,
  openWallets,
  runIntents,
  tell,
  type Crowd,
  type Kind,
  type Run,
} from './crowd.js'
import { readHistories } from './histories.js'
import { profiling } from './profiles.js'
import { dumpChains, openTwin, type Twin, type TwinResult } from './twin.js'
import { countStatements, forgetStatements, reportStatements } from './statements.js'
import { addUp, perItem, readCpu, readMemory, readThreads, spent, sum, type Cpu } from './usage.js'

/**
 * Many wallets are funded at once, then each of them wants something at the same moment: how many intents a second,
 * and where the CPU of an intent goes. Beside it its twin on the same machine: workflows that do nothing, and the same
 * bundles sent by a script. They take turns: a machine that is slower for a while is slower for both. The first turns are
 * not measured, until the code of both is compiled; nor is what each does once more before each turn that is.
 */
const { values } = parseArgs({
  options: {
    wallets: { type: 'string', default: '200' },
    connections: { type: 'string', default: '32' },
    kind: { type: 'string', default: 'lend' },
    rounds: { type: 'string', default: '3' },
    /** Turns before the first one that is measured. */
    'warm-ups': { type: 'string', default: '4' },
    /** A folder for profiles of what is ours, which are then printed. They cost time of their own. */
    profile: { type: 'string' },
  },
})
const WALLETS = Number(values.wallets)
const CONNECTIONS = Number(values.connections)
const KIND = values.kind as Kind
const ROUNDS = Number(values.rounds)
const WARM_UPS = Number(values['warm-ups'])
/** USDC of each intent: what a wallet was given, or has lent, is enough for all rounds, and for what comes before each. */
const AMOUNT = Math.floor((KIND === 'withdraw' ? 250 : 500) / (WARM_UPS + ROUNDS * 2)) / 1_000
const wish = { kind: KIND, amount: AMOUNT }
const IDLE_MS = 3_000
/** Until a process has written its profile. */
const WRITING_MS = 2_000
const services = ['api', 'worker', 'lanes', 'signer']

/** Of a lend on two cores that everything shares. */
const goals = {
  perSecond: 25,
  shareOfTwin: 0.65,
  postP99Ms: 500,
  operationsPerBundle: 8,
  cpuMs: 75,
  fundingsPerSecond: 25,
}

/** Not who asks, and not what stands for the makers of blocks and attestations. */
const isService = (name: string) => !['bench', 'devnet'].includes(name)

const profiles = profiling(values.profile)
const home = await createHome()
// The twin's nodes keep no state file. While one is written its node answers nobody, as no node of a network does:
// for 0.12 to 0.28 s every five seconds, measured at 58 to 83 MB.
const stack = await startStack(home, { ...profiles.env, DEVNET_STATE_SECONDS: '86400' })
try {
  if (values.profile) await countStatements(stack)
  const crowd = await gatherCrowd(stack, CONNECTIONS)
  await measure(crowd).finally(() => dismiss(crowd))
} catch (error) {
  // A process of ours may have ended: it says which, and why.
  console.error(stack.output())
  throw error
} finally {
  await stack.stop()
  removeHome(home)
}

async function measure(crowd: Crowd): Promise<void> {
  const { db, pids, facts } = crowd
  const opened = await openWallets(crowd, WALLETS * 2)
  const [wallets, others] = [opened.slice(0, WALLETS), opened.slice(WALLETS)]
  tell('fundings to warm up', await fundAll(crowd, others))
  if (values.profile) await forgetStatements(db)
  const funding = await fundAll(crowd, wallets)
  if (values.profile) await reportStatements(db, WALLETS)
  tell('fundings', funding)
  console.log('CPU ms per funding:', perItem(funding.cpu, WALLETS))
  if (KIND === 'withdraw') {
    tell('lends before them', await runIntents(crowd, wallets, { kind: 'lend', amount: 0.5 }))
  }
  const idle = await measureIdle(pids)
  const rounds: Round[] = []
  const twin = await openTwin(facts)
  try {
    const sides = { crowd, wallets, twin }
    for (let n = 0; n < WARM_UPS; n++) await warmUp(sides)
    for (let n = 0; n < ROUNDS; n++) rounds.push(await runRound(sides))
  } finally {
    await twin.stop()
  }
  report({ rounds, funding, idle })
  const ids = rounds.flatMap(({ run }) => run.posts.map(({ body }) => String(body.id)))
  console.log('history of an intent:', await readHistories(facts.temporalAddress, ids))
}

type Bundling = { operations: number; bundles: number }
/** `memory`: MB by process when its last intent was over. */
type Round = { run: Run; bundling: Bundling; memory: Record<string, number>; twin: TwinResult }

type Sides = { crowd: Crowd; wallets: string[]; twin: Twin }

/** An intent of each wallet, and the workflows of the twin. */
async function warmUp({ crowd, wallets, twin }: Sides): Promise<void> {
  const { since } = await runUnmeasured(crowd, wallets)
  await runBeside(crowd, () => twin.warmUp({ ...crowd, since }))
}

async function runUnmeasured(crowd: Crowd, wallets: string[]): Promise<Run> {
  const run = await runIntents(crowd, wallets, wish)
  tell(`${KIND}s to warm up`, run)
  return run
}

/** An intent of each wallet, and the same of the twin; once more before each, as the other one has held it up. */
async function runRound({ crowd, wallets, twin }: Sides): Promise<Round> {
  await runUnmeasured(crowd, wallets)
  const dumps = await dumpChains(crowd.facts.rpcUrls)
  const run = await profiled(crowd, () => runIntents(crowd, wallets, wish))
  const memory = readMemory(crowd.pids)
  const bundling = await readBundling(crowd, run.since)
  const ran = { ...crowd, since: run.since }
  const beside = await runBeside(crowd, async () => {
    await twin.warmUp(ran)
    return twin.run(ran, dumps)
  })
  tell(`${KIND}s`, run)
  console.log(`  beside ${beside.perSecond.toFixed(1)} a second of the twin`)
  return { run, bundling, memory, twin: beside }
}

/** What is ours takes nothing from the twin. An API that goes on ends connections that have rested for too long. */
async function runBeside<T>(crowd: Crowd, work: () => Promise<T>): Promise<T> {
  crowd.callers.hangUp()
  const ours = pidsIn(crowd, services)
  for (const pid of ours) process.kill(pid, 'SIGSTOP')
  return work().finally(() => {
    for (const pid of ours) process.kill(pid, 'SIGCONT')
  })
}

function pidsIn({ pids }: Crowd, names: string[]): number[] {
  return names.map((name) => pids[name] ?? 0)
}

/** Prints where the time of a run went, when that was asked for. */
async function profiled(crowd: Crowd, work: () => Promise<Run>): Promise<Run> {
  if (!values.profile) return work()
  const own = pidsIn(crowd, [...services, 'devnet'])
  const before = own.map(readThreads)
  await forgetStatements(crowd.db)
  profiles.toggle(own)
  const run = await work()
  profiles.toggle(own)
  await sleep(WRITING_MS)
  const threads = own.map((pid, i) => spent(before[i] ?? {}, readThreads(pid)))
  await reportStatements(crowd.db, WALLETS)
  for (const [i, name] of [...services, 'devnet'].entries()) {
    profiles.report({ name, pid: own[i] ?? 0 }, { threads: threads[i] ?? {}, intents: WALLETS })
  }
  return run
}

async function measureIdle(pids: Crowd['pids']): Promise<Cpu> {
  const before = readCpu(pids)
  await sleep(IDLE_MS)
  const used = spent(before, readCpu(pids))
  return Object.fromEntries(Object.entries(used).map(([name, s]) => [name, s / (IDLE_MS / 1_000)]))
}

/** Operations and transactions that carried them. */
async function readBundling({ db }: Crowd, since: number): Promise<Bundling> {
  const { rows } = await db.raw<{ rows: Bundling[] }>(
    `select count(*)::int as operations, count(distinct tx_id)::int as bundles
     from operation where created_at >= ? and tx_id is not null`,
    [new Date(since)],
  )
  return rows[0] ?? { operations: 0, bundles: 0 }
}

type Measured = {
  rounds: Round[]
  funding: Run
  idle: Cpu
}

function report({ rounds, funding, idle }: Measured): void {
  const [runs, twins] = [rounds.map(({ run }) => run), rounds.map(({ twin }) => twin)]
  const count = WALLETS * rounds.length
  const own = perItem(addUp(runs.map(({ cpu }) => cpu)), count)
  const memory = rounds.at(-1)?.memory ?? {}
  const rows = Object.keys(own).map((name) => [
    name,
    {
      'CPU ms per intent': Number(own[name]?.toFixed(1)),
      'share of a core, idle': Number(idle[name]?.toFixed(3)),
      'MB at the end': Math.round(memory[name] ?? 0),
    },
  ])
  console.table(Object.fromEntries(rows))
  const twinCpu = addUp(twins.map(({ cpu }) => cpu))
  console.log('the twin, CPU ms per workflow:', perItem(twinCpu, count))
  const operations = sum(rounds.map(({ bundling }) => bundling.operations))
  const bundles = sum(rounds.map(({ bundling }) => bundling.bundles))
  const seconds = sum(runs.map((one) => one.seconds))
  const twinSeconds = sum(twins.map((one) => one.seconds))
  const figures = {
    perSecond: count / seconds,
    shareOfTwin: twinSeconds / seconds,
    postP99Ms: quantile(
      runs.flatMap(({ posts }) => posts.map(({ tookMs }) => tookMs)),
      0.99,
    ),
    operationsPerBundle: operations / bundles,
    cpuMs: sum(
      Object.keys(own)
        .filter(isService)
        .map((name) => own[name] ?? 0),
    ),
    fundingsPerSecond: WALLETS / funding.seconds,
  }
  console.log(
    `${operations} operations in ${bundles} bundles; the twin: ${(count / twinSeconds).toFixed(1)} a second`,
  )
  console.table(
    Object.fromEntries(
      Object.entries(figures).map(([name, value]) => [
        name,
        { value: Number(value.toFixed(2)), 'goal of a lend': goals[name as keyof typeof goals] },
      ]),
    ),
  )
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores.`)
  const failed = sum(runs.map((one) => one.failed))
  if (failed > 0 || (KIND === 'lend' && !isReached(figures))) process.exitCode = 1
}

function isReached(figures: typeof goals): boolean {
  const most = ['postP99Ms', 'cpuMs'] as const
  const least = ['perSecond', 'shareOfTwin', 'operationsPerBundle', 'fundingsPerSecond'] as const
  return (
    most.every((name) => figures[name] <= goals[name]) &&
    least.every((name) => figures[name] >= goals[name])
  )
}
