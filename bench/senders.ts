import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { claimNetwork, connect } from '../db/client/connect.js'
import { compileServices } from '../dev/stack/compile.js'
import { nodeEnv, nodeFlags } from '../dev/stack/parts.js'
import { createWorld, type World } from '../test/relayer/world/fixture.js'
import { startTemplate } from '../test/support/database.js'
import { createRunFolder } from '../test/support/run/runFolder.js'
import { inTurns } from './callers.js'
import { sendSingly } from './singly.js'
import { sum } from './usage.js'
import { pageOption } from './page.js'
import { printVerdict, type Metric } from './verdict.js'
import type { StoredWallet } from '../db/accounts/wallets.js'

/**
 * Throughput of the relayer: all operations are stored before signer and relayer start. Counts executed operations
 * per second by the money moved on chain, also when both processes are killed half-way. `wallets x operations`, `!`
 * with the kill. The baseline is a script that sends as many transfers, one transaction each, and stores nothing
 * (`sendSingly`).
 */
const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '1x500,50x60,50x60!' },
    senders: { type: 'string', default: '2' },
    block: { type: 'string', default: '1' },
    ...pageOption,
  },
})
/** Goal: share of the script's operations per second. */
const MIN_SHARE = 0.5
const FULL_SPEED_SECONDS = 10

const SENDERS = Number(values.senders)
const BLOCK_SECONDS = Number(values.block)
/** Base units of one deposit. */
const UNITS = 10_000n
const SAMPLE_MS = 250
/** Time over which a rate is measured. */
const WINDOW_SECONDS = 3
/** Without progress for this long, missing operations count as lost. */
const PATIENCE_MS = 30_000
const root = fileURLToPath(new URL('..', import.meta.url))
/** Settings of a deployment. */
const compiled = await compileServices()

type Scenario = { name: string; wallets: number; each: number; isKilled: boolean }
type SenderProcess = { role: 'relayer' | 'signer'; child: ChildProcess }
/** Executed operations at a time, in seconds since the start. */
type ExecutedSample = { at: number; executed: number }
type Ran = { samples: ExecutedSample[]; seconds: number; killedAt: number | undefined }
type JudgedRun = { lines: Metric[]; faults: string[] }

const folder = await createRunFolder()
const template = await startTemplate(folder)
try {
  await measure()
} finally {
  await template.stop()
  await folder.remove()
}

async function measure(): Promise<void> {
  await keepDurable()
  const world = await createWorld({ senderCount: SENDERS, blockTimeSeconds: BLOCK_SECONDS })
  const judged: JudgedRun[] = []
  try {
    await claimNetwork(world.db, 'devnet')
    await world.driver().db.destroy()
    for (const scenario of readScenarios()) judged.push(await run(world, scenario))
  } finally {
    await world.stop()
  }
  printVerdict(
    judged.flatMap(({ lines }) => lines),
    { faults: judged.flatMap(({ faults }) => faults), write: values.write },
  )
}

/** Tests trade durability for speed. This measurement writes durably, as a deployment does. */
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

async function run(world: World, scenario: Scenario): Promise<JudgedRun> {
  const { wallets: count, each } = scenario
  // Twice the needed amount, so that a doubly executed operation has money to move.
  const wallets = await world.createWallets(count, 2n * UNITS * BigInt(each))
  const orders = wallets.flatMap((wallet) => Array.from({ length: each }, () => wallet))
  await inTurns(orders, 8, (wallet) => world.lend(wallet, UNITS))
  const ran = await execute(world, scenario, await countEnded(world))
  const script = scenario.isKilled ? undefined : await sendSingly(world, orders.length)
  return judge(world, { scenario, wallets, ran, script })
}

async function execute(world: World, scenario: Scenario, before: number): Promise<Ran> {
  const total = scenario.wallets * scenario.each
  let services = await startServices(world)
  const samples: ExecutedSample[] = []
  let killedAt: number | undefined
  const begun = performance.now()
  const now = () => (performance.now() - begun) / 1_000
  for (let last = { executed: -1, at: 0 }; ;) {
    await askAgain(world)
    const executed = (await countEnded(world)) - before
    samples.push({ at: now(), executed })
    if (executed > last.executed) last = { executed, at: performance.now() }
    if (executed >= total || performance.now() - last.at > PATIENCE_MS) break
    if (scenario.isKilled && killedAt === undefined && executed > total / 2) {
      await end(services, 'SIGKILL')
      killedAt = now()
      services = await startServices(world)
    }
    await sleep(SAMPLE_MS)
  }
  const seconds = now()
  await end(services, 'SIGTERM')
  return { samples, seconds, killedAt }
}

/** Submits a reopened operation again, as the activity of a workflow does. */
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

function startServices(world: World): Promise<SenderProcess[]> {
  return Promise.all((['relayer', 'signer'] as const).map((role) => start(world, role)))
}

async function start(world: World, role: SenderProcess['role']): Promise<SenderProcess> {
  const away = 'http://127.0.0.1:9'
  const url = world.database.urlAs(`steward_${role}`)
  const child = spawn(process.execPath, [...nodeFlags, join(compiled, role, 'main.js')], {
    cwd: root,
    env: {
      ...process.env,
      ...nodeEnv,
      ...{ NETWORK: 'devnet', DEVNET_FILE: join(world.folder, 'devnet.json'), LOG_LEVEL: 'error' },
      ...{ DATABASE_URL: url, SENDERS_PER_CHAIN: String(SENDERS), NODE_OPTIONS: '' },
      ...{ RPC_URL_ETHEREUM_SEPOLIA: away, RPC_URL_BASE_SEPOLIA: away, ATTESTATION_URL: away },
      ...{ RPC_URL_ARBITRUM_SEPOLIA: world.node.url, KEK_FILE: join(world.folder, 'kek') },
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return { role, child }
}

async function end(services: SenderProcess[], signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const ended = services.map(({ child }) => once(child, 'exit'))
  for (const { child } of services) child.kill(signal)
  await Promise.all(ended)
}

type Result = { scenario: Scenario; wallets: StoredWallet[]; ran: Ran; script: number | undefined }

/** `script`: operations per second of the script. */
async function judge(world: World, { scenario, wallets, ran, script }: Result): Promise<JudgedRun> {
  const { name, each } = scenario
  const left = await Promise.all(wallets.map(({ address }) => world.usdcOf(address)))
  const moved = left.map((units) => Number((2n * UNITS * BigInt(each) - units) / UNITS))
  const lost = sum(moved.map((count) => Math.max(0, each - count)))
  const open = lost > 0 ? await describeOpen(world) : []
  const double = sum(moved.map((count) => Math.max(0, count - each)))
  const steward = (wallets.length * each) / ran.seconds
  const speed = script === undefined ? {} : { baseline: script, atLeast: MIN_SHARE }
  const recovered = secondsToFullSpeed(ran)
  const killed =
    recovered === undefined
      ? []
      : [
          {
            ...{ metric: `${name}: seconds to full speed`, steward: recovered },
            atMost: FULL_SPEED_SECONDS,
          },
        ]
  return {
    lines: [{ metric: `${name}: operations a second`, steward, ...speed }, ...killed],
    faults: [
      ...(lost > 0 ? [`${name}: ${lost} lost (${open.join('; ')})`] : []),
      ...(double > 0 ? [`${name}: ${double} twice`] : []),
    ],
  }
}

/** State and reason of unfinished operations. */
async function describeOpen({ db }: World): Promise<string[]> {
  const rows = await db<{ id: string; state: string; code: string | null; message: string | null }>(
    'operation',
  )
    .whereNotIn('state', ['confirmed', 'final'])
    .select('id', 'state', 'code', 'message')
    .limit(5)
  return rows.map((row) => Object.values(row).join(' '))
}

function rateAt(samples: ExecutedSample[], { at, executed }: ExecutedSample): number {
  const from = samples.find((sample) => sample.at >= at - WINDOW_SECONDS)
  return from && at > from.at ? (executed - from.executed) / Math.max(at - from.at, 1) : 0
}

/** Seconds until the rate over three seconds reaches the average before the kill; Infinity when it never does. */
function secondsToFullSpeed({ samples, killedAt }: Ran): number | undefined {
  if (killedAt === undefined) return undefined
  const before = samples.filter(({ at }) => at <= killedAt).at(-1)
  const usual = before ? before.executed / before.at : 0
  const after = samples.filter(({ at }) => at > killedAt)
  const first = after.find((sample) => rateAt(after, sample) >= usual)
  const end = after.at(-1)
  // The remaining time may be shorter than three seconds.
  return (first ?? end)?.at === undefined ? Infinity : ((first ?? end)?.at ?? 0) - killedAt
}
