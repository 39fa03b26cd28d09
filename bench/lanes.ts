import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { claimNetwork, connect } from '../db/connection/connect.js'
import { compileServices } from '../dev/parts/compile.js'
import { nodeEnv, nodeFlags } from '../dev/parts/parts.js'
import { createWorld, type World } from '../test/lanes/world/fixture.js'
import { startTemplate } from '../test/support/database.js'
import { createRunFolder } from '../test/support/runFolder.js'
import { inTurns } from './callers.js'
import { profiling } from './profiles.js'
import { addUp, perItem, readCpu, readMemory, readThreads, spent, sum, type Cpu } from './usage.js'
import type { Wallet } from '../db/tenants/wallets.js'

/**
 * Operations handed straight to the lanes, all before signer and lanes start: how many a second are executed, counted
 * by what the chain has moved; also when both are killed half-way. `wallets x operations`, `!` with the kill. Blocks
 * hold 300 Mgas, some 1,300 deposits in bundles, so that the chain bounds none of the goals.
 *
 * Beside them what a transaction relay did on such a machine, one transaction each, with blocks of a second. What takes
 * no more than two blocks or three is run several times, and its mean counts.
 * @see https://github.com/joshstevens19/rrelayer
 */
const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '1x500,50x10,50x60,50x60!' },
    lanes: { type: 'string', default: '2' },
    block: { type: 'string', default: '1' },
    /** A folder for profiles of signer and lanes, which are then printed. They cost time of their own. */
    profile: { type: 'string' },
  },
})
const relayed: Record<string, number> = { '1x500': 59, '50x10': 207, '50x60': 114 }
const BUNDLED_PER_SECOND = 300
const FULL_SPEED_SECONDS = 10

const LANES = Number(values.lanes)
const BLOCK_SECONDS = Number(values.block)
/** Base units of one deposit. */
const UNITS = 10_000n
const SAMPLE_MS = 250
/** So few are over after two blocks or three, as it happens. */
const FEW_OPERATIONS = 1_000
const TURNS_OF_FEW = 3
/** Over so long a rate is taken. */
const WINDOW_SECONDS = 3
/** Nothing happens for so long: what is not executed then is lost. */
const PATIENCE_MS = 90_000
/** Until a process has written its profile. */
const WRITING_MS = 2_000
const root = fileURLToPath(new URL('..', import.meta.url))
const profiles = profiling(values.profile)
/** As a deployment runs them. */
const compiled = await compileServices()

type Scenario = { name: string; wallets: number; each: number; isKilled: boolean }
type Service = { role: 'lanes' | 'signer'; child: ChildProcess }
/** How many were executed at which time, seconds since the start. */
type Sample = { at: number; executed: number }
type Turn = { wallets: Wallet[]; ran: Ran }
type Ran = {
  samples: Sample[]
  seconds: number
  cpu: Cpu
  memory: Cpu
  killedAt: number | undefined
}

const server = { pid: 0 }
const folder = await createRunFolder()
const template = await startTemplate({
  ...folder,
  guard(pid) {
    server.pid = pid
    folder.guard(pid)
  },
})
try {
  await measure()
} finally {
  await template.stop()
  await folder.remove()
}

async function measure(): Promise<void> {
  await keepDurable()
  const world = await createWorld({ lanes: LANES, blockTimeSeconds: BLOCK_SECONDS })
  try {
    await claimNetwork(world.db, 'devnet')
    await world.driver().db.destroy()
    for (const scenario of readScenarios()) await run(world, scenario)
  } finally {
    await world.stop()
  }
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores.`)
}

/** Tests give up their data for speed; what is measured here writes as a deployment does. */
async function keepDurable(): Promise<void> {
  const db = connect(process.env.TEST_POSTGRES_URL ?? '', 1)
  for (const statement of ['alter system reset all', 'select pg_reload_conf()']) {
    await db.raw(statement)
  }
  await db.destroy()
}

function readScenarios(): Scenario[] {
  return values.scenarios.split(',').map((text) => {
    const [, wallets, each, kill] = /^(\d+)x(\d+)(!?)$/.exec(text) ?? []
    if (!wallets) throw new Error(`A scenario is such as 50x10 or 50x10!, not ${text}.`)
    return { name: text, wallets: Number(wallets), each: Number(each), isKilled: kill === '!' }
  })
}

async function run(world: World, scenario: Scenario): Promise<void> {
  const isLittle = scenario.wallets * scenario.each < FEW_OPERATIONS
  const turns: Turn[] = []
  while (turns.length < (isLittle ? TURNS_OF_FEW : 1)) turns.push(await runOnce(world, scenario))
  await report(world, scenario, turns)
}

async function runOnce(world: World, scenario: Scenario): Promise<Turn> {
  const { wallets: count, each } = scenario
  // Twice what is needed: what is executed twice has money to move.
  const wallets = await world.createWallets(count, 2n * UNITS * BigInt(each))
  const orders = wallets.flatMap((wallet) => Array.from({ length: each }, () => wallet))
  await inTurns(orders, 8, (wallet) => world.lend(wallet, UNITS))
  return { wallets, ran: await execute(world, scenario, await countEnded(world)) }
}

async function execute(world: World, scenario: Scenario, before: number): Promise<Ran> {
  const total = scenario.wallets * scenario.each
  let services = await startServices(world)
  const pids = () => ({
    ...Object.fromEntries(services.map(({ role, child }) => [role, child.pid ?? 0])),
    postgres: server.pid,
    node: world.node.pid,
  })
  const samples: Sample[] = []
  let [cpuBefore, cpu] = [readCpu(pids()), {}]
  let killedAt: number | undefined
  const threads = profile(services)
  const begun = performance.now()
  const now = () => (performance.now() - begun) / 1_000
  for (let last = { executed: -1, at: 0 }; ;) {
    await askAgain(world)
    const executed = (await countEnded(world)) - before
    samples.push({ at: now(), executed })
    if (executed > last.executed) last = { executed, at: performance.now() }
    if (executed >= total || performance.now() - last.at > PATIENCE_MS) break
    if (scenario.isKilled && killedAt === undefined && executed > total / 2) {
      cpu = spent(cpuBefore, readCpu(pids()))
      await end(services, 'SIGKILL')
      killedAt = now()
      services = await startServices(world)
      cpuBefore = readCpu(pids())
    }
    await sleep(SAMPLE_MS)
  }
  const seconds = now()
  const [rest, memory] = [spent(cpuBefore, readCpu(pids())), readMemory(pids())]
  await threads(total)
  await end(services, 'SIGTERM')
  return { samples, seconds, cpu: addUp([cpu, rest]), memory, killedAt }
}

/** Begins profiles, when that was asked for; the function prints them. Of those who are killed there are none. */
function profile(services: Service[]): (operations: number) => Promise<void> {
  if (!values.profile) return () => Promise.resolve()
  const own = services.map(({ role, child }) => ({ name: role, pid: child.pid ?? 0 }))
  const before = own.map(({ pid }) => readThreads(pid))
  profiles.toggle(own.map(({ pid }) => pid))
  return async (intents) => {
    const used = own.map(({ pid }, i) => spent(before[i] ?? {}, readThreads(pid)))
    profiles.toggle(own.map(({ pid }) => pid))
    await sleep(WRITING_MS)
    for (const [i, one] of own.entries()) profiles.report(one, { threads: used[i] ?? {}, intents })
  }
}

/** What a workflow's activity does for what was turned away: it hands it in once more. */
async function askAgain({ db }: World): Promise<void> {
  await db('operation')
    .where({ state: 'deferred' })
    .whereRaw('retry_after < clock_timestamp()')
    .update({ state: 'queued' })
}

async function countEnded({ db }: World): Promise<number> {
  const row = await db('operation')
    .whereIn('state', ['confirmed', 'final'])
    .count<{ count: bigint }[]>('* as count')
  return Number(row[0]?.count ?? 0)
}

function startServices(world: World): Promise<Service[]> {
  return Promise.all((['lanes', 'signer'] as const).map((role) => start(world, role)))
}

async function start(world: World, role: Service['role']): Promise<Service> {
  const away = 'http://127.0.0.1:9'
  const url = world.database.urlAs(`steward_${role}`)
  const child = spawn(process.execPath, [...nodeFlags, join(compiled, role, 'main.js')], {
    cwd: root,
    env: {
      ...process.env,
      ...nodeEnv,
      ...{ NETWORK: 'devnet', DEVNET_FILE: join(world.folder, 'devnet.json'), LOG_LEVEL: 'error' },
      ...{ DATABASE_URL: url, LANES_PER_CHAIN: String(LANES), NODE_OPTIONS: '' },
      ...profiles.env,
      ...{ RPC_URL_ETHEREUM_SEPOLIA: away, RPC_URL_BASE_SEPOLIA: away, ATTESTATION_URL: away },
      ...{ RPC_URL_ARBITRUM_SEPOLIA: world.node.url, KEK_FILE: join(world.folder, 'kek') },
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return { role, child }
}

async function end(services: Service[], signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const ended = services.map(({ child }) => once(child, 'exit'))
  for (const { child } of services) child.kill(signal)
  await Promise.all(ended)
}

async function report(world: World, scenario: Scenario, turns: Turn[]): Promise<void> {
  const { name, each } = scenario
  const [wallets, runs] = [turns.flatMap((turn) => turn.wallets), turns.map(({ ran }) => ran)]
  const total = wallets.length * each
  const left = await Promise.all(wallets.map(({ address }) => world.usdcOf(address)))
  const moved = left.map((units) => Number((2n * UNITS * BigInt(each) - units) / UNITS))
  const lost = sum(moved.map((count) => Math.max(0, each - count)))
  const double = sum(moved.map((count) => Math.max(0, count - each)))
  const seconds = sum(runs.map((ran) => ran.seconds))
  const perSecond = total / seconds
  const best = Math.max(...runs.map(({ samples }) => bestOf(samples)))
  const cpu = perItem(addUp(runs.map((ran) => ran.cpu)), total)
  const ms = Object.entries(cpu).map(([process, used]) => `${process} ${used.toFixed(1)}`)
  const mb = Object.entries(runs.at(-1)?.memory ?? {}).map(
    ([process, size]) => `${process} ${Math.round(size)}`,
  )
  console.log(
    `${name}: ${total} operations in ${seconds.toFixed(1)} s, ${perSecond.toFixed(0)} a second` +
      `${turnsText(total, runs)} (best second ${best.toFixed(0)}), ` +
      `${await operationsPerBundle(world, wallets)} a bundle, lost ${lost}, double ${double}\n` +
      `  CPU ms each: ${ms.join(', ')}; MB: ${mb.join(', ')}`,
  )
  const recovered = Math.max(0, ...runs.map((ran) => secondsToFullSpeed(ran) ?? 0))
  if (recovered > 0) console.log(`  full speed ${recovered.toFixed(1)} s after the kill`)
  const goal = scenario.isKilled ? 0 : goalOf(name)
  if (goal > 0) console.log(`  goal: ${goal} a second (a relay: ${relayed[name] ?? 'not known'})`)
  const isSlow = perSecond < goal || recovered > FULL_SPEED_SECONDS
  if (lost > 0 || double > 0 || isSlow) process.exitCode = 1
}

/** How many a second in each of several turns. */
function turnsText(total: number, runs: Ran[]): string {
  if (runs.length === 1) return ''
  const rates = runs.map(({ seconds }) => (total / runs.length / seconds).toFixed(0))
  return ` (in turns ${rates.join(', ')})`
}

/** Only many wallets with a backlog can fill bundles and blocks. */
function goalOf(name: string): number {
  return name === '50x60' ? BUNDLED_PER_SECOND : (relayed[name] ?? 0)
}

async function operationsPerBundle({ db }: World, wallets: Wallet[]): Promise<string> {
  const [first] = wallets
  const { rows } = await db.raw<{ rows: { each: string | null }[] }>(
    `select (count(*)::numeric / nullif(count(distinct tx_id), 0))::numeric(6, 1)::text as each
     from operation where wallet_id = any (?)`,
    [wallets.map(({ id }) => id)],
  )
  return first ? (rows[0]?.each ?? '0') : '0'
}

/** The most that were executed within a second, as a rate over the three seconds around it. */
function bestOf(samples: Sample[]): number {
  return Math.max(0, ...samples.map((sample) => rateAt(samples, sample)))
}

function rateAt(samples: Sample[], { at, executed }: Sample): number {
  const from = samples.find((sample) => sample.at >= at - WINDOW_SECONDS)
  return from && at > from.at ? (executed - from.executed) / Math.max(at - from.at, 1) : 0
}

/** Until as many are executed in three seconds as on average before the kill; Infinity when never. */
function secondsToFullSpeed({ samples, killedAt }: Ran): number | undefined {
  if (killedAt === undefined) return undefined
  const before = samples.filter(({ at }) => at <= killedAt).at(-1)
  const usual = before ? before.executed / before.at : 0
  const after = samples.filter(({ at }) => at > killedAt)
  const first = after.find((sample) => rateAt(after, sample) >= usual)
  const end = after.at(-1)
  // The rest may be too little for three seconds of it.
  return (first ?? end)?.at === undefined ? Infinity : ((first ?? end)?.at ?? 0) - killedAt
}
