import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { connectChains, type Chains } from '../chains/connect.js'
import { createRegistry } from '../chains/registry.js'
import { connect, type Db } from '../db/connection/connect.js'
import { connectAttestations } from '../protocols/bridges/bridges.js'
import {
  createClient,
  createHome,
  removeHome,
  startStack,
  until,
  type Stack,
} from '../test/e2e/stack.js'
import { createBareScript, endow, type BareScript } from './bareScript.js'
import { quantile } from './callers.js'
import { startCountedNodes, sumOf, type CountedNodes, type Tally } from './countedNodes.js'
import { countActions } from './histories.js'
import type { ExecutionPlan } from '../domain/intent.js'

/** Counted rounds; one before them warms up: first use of code, delegation of the wallet. */
const ROUNDS = Number(process.env.ROUNDS ?? 12)
const POLL_MS = 50
/** What was just given is looked at. */
const SETTLE_MS = 5_000
/** Longer than the service waits before it looks at what it looks at now and then, such as what lanes have. */
const IDLE_MS = 60_000
/** Calls are counted for so long after the answer that says completed: they are the intent's, too. */
const TAIL_MS = 1_000
/** Blocks come at fixed times of a second: an intent and its script start at the same one. */
const SECOND_MS = 1_000
const ENDOWMENT = 1_000_000_000n

const ARBITRUM = 'arbitrum-sepolia'
const ETHEREUM = 'ethereum-sepolia'
/** Where the wallets have money; elsewhere it comes by the bridge only. */
const sources = [ARBITRUM, ETHEREUM]
const BASE = 'base-sepolia'
/**
 * What is asked for, and how many Temporal actions it may cost when nothing is waited for. The bridged lending
 * asks for more than the bridged transfers have left on its chain.
 */
const cases = [
  { name: 'direct-deposit', body: { action: 'lend', amount: 2, chain: ARBITRUM }, actions: 4 },
  { name: 'direct-withdraw', body: { action: 'withdraw', amount: 1, chain: ARBITRUM }, actions: 4 },
  {
    name: 'lend with swap',
    body: { action: 'lend', amount: 2, chain: ETHEREUM },
    actions: 5,
  },
  {
    name: 'direct-bridge',
    body: { action: 'bridge', amount: 1, fromChain: ARBITRUM, toChain: BASE },
    actions: 6,
  },
  { name: 'single-bridge', body: { action: 'lend', amount: 100, chain: BASE }, actions: 7 },
]
type Case = (typeof cases)[number]

/** Figures of one run: of the intent, of the bare script, and of the intent's workflow. */
type Figures = {
  seconds: number
  bareSeconds: number
  gas: number
  bareGas: number
  /** Beside the watching, by what was asked. */
  asked: Tally
  bareCalls: number
  actions: number
  events: number
}

type Bench = {
  nodes: CountedNodes
  stack: Stack
  db: Db
  temporal: Client
  chains: Chains
  script: BareScript
  walletId: string
  /** Calls per second of a service that has nothing to do but watch, by what is asked. */
  idleRate: Tally
}

const round = (value: number) => Math.round(value * 100) / 100

const home = await createHome()
const nodes = await startCountedNodes()
const stack = await startStack(home, toVariables(nodes.service.urls))
try {
  await run()
} finally {
  await stack.stop()
  await nodes.stop()
  removeHome(home)
}

function toVariables(urls: Record<string, string>): NodeJS.ProcessEnv {
  const variable = (name: string) => `RPC_URL_${name.toUpperCase().replace('-', '_')}`
  return Object.fromEntries(Object.entries(urls).map(([name, url]) => [variable(name), url]))
}

async function run(): Promise<void> {
  const { facts } = stack
  const db = connect(facts.databaseUrl, 2)
  const connection = await Connection.connect({ address: facts.temporalAddress })
  const registry = createRegistry('devnet', join(home, 'devnet.json'))
  const chains = connectChains(registry, nodes.script.urls)
  const tools = { chains, registry, attestations: connectAttestations(facts.attestationUrl) }
  const script = createBareScript(tools)
  await db('account').update({ rpm: 1_000_000, purchased: 1_000_000 })
  const call = createClient(facts)
  const { body } = await call('POST', '/wallets', { userId: 'bench', metadata: {} })
  const walletId = String(body.id)
  for (const address of [script.address, String(body.address)]) {
    await endow(tools, address, sources, ENDOWMENT)
  }
  const idleRate = await measureIdle()
  const temporal = new Client({ connection })
  const bench = { nodes, stack, db, temporal, chains, script, walletId, idleRate }
  const figures = new Map<Case, Figures[]>(cases.map((one) => [one, []]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const one of cases) {
      const found = await runCase(bench, one, (round * SECOND_MS) / (ROUNDS + 1))
      if (round > 0) figures.get(one)?.push(found)
    }
  }
  report(figures, idleRate)
  for (const client of chains.list) client.close()
  await connection.close()
  await db.destroy()
}

async function measureIdle(): Promise<Tally> {
  await sleep(SETTLE_MS)
  const before = new Map(nodes.service.tally)
  const { seconds } = await timed(() => sleep(IDLE_MS))
  return scaled(since(nodes.service.tally, before), 1 / seconds)
}

function since(now: Tally, before: Tally): Tally {
  return new Map([...now].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)]))
}

function scaled(tally: Tally, factor: number): Tally {
  return new Map([...tally].map(([kind, count]) => [kind, count * factor]))
}

async function runCase(bench: Bench, one: Case, phaseMs: number): Promise<Figures> {
  const { service, script } = bench.nodes
  await untilPhase(phaseMs)
  const before = new Map(service.tally)
  const whole = await timed(async () => {
    const ended = await timed(() => runIntent(bench, one))
    await sleep(TAIL_MS)
    return ended
  })
  const intent = whole.result
  const watching = scaled(bench.idleRate, whole.seconds)
  const asked = since(since(service.tally, before), watching)
  const { plan, units } = await readPlan(bench.db, intent.result.id)
  await untilPhase(phaseMs)
  const bareBefore = sumOf(script.tally)
  const bare = await timed(() => bench.script.execute(plan, units))
  return {
    seconds: intent.seconds,
    bareSeconds: bare.seconds,
    gas: Number(intent.result.gas),
    bareGas: Number(bare.result),
    asked,
    bareCalls: sumOf(script.tally) - bareBefore,
    ...(await readCosts(bench.temporal, intent.result.id)),
  }
}

async function untilPhase(phaseMs: number): Promise<void> {
  const late = performance.now() % SECOND_MS
  await sleep((phaseMs - late + SECOND_MS) % SECOND_MS)
}

async function timed<T>(action: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const begun = performance.now()
  const result = await action()
  return { seconds: (performance.now() - begun) / 1_000, result }
}

/** Creates an intent and asks for it every 50 ms until it is completed. */
async function runIntent({ stack, walletId }: Bench, { name, body }: Case) {
  const call = createClient(stack.facts)
  const created = await until(
    () => call('POST', '/intents', { walletId, asset: 'USDC', ...body }),
    // What was just given to the wallet is not booked yet.
    (answer) => answer.body.error !== 'INSUFFICIENT_FUNDS',
  )
  const id = String(created.body.id)
  if (created.status !== 201) throw new Error(`${name}: ${JSON.stringify(created.body)}`)
  for (;;) {
    const { body: intent } = await call('GET', `/intents/${id}`)
    if (intent.status === 'completed') {
      return { id, gas: (intent.results as { totalGasUsed: string }).totalGasUsed }
    }
    if (intent.status === 'failed') throw new Error(`${name}: ${JSON.stringify(intent.error)}`)
    await sleep(POLL_MS)
  }
}

async function readPlan(db: Db, id: string): Promise<{ plan: ExecutionPlan; units: bigint }> {
  const row = await db('intent').where({ id }).first<{ plan: ExecutionPlan; units: string }>()
  return { plan: row.plan, units: BigInt(row.units) }
}

async function readCosts(temporal: Client, id: string) {
  const handle = temporal.workflow.getHandle(id)
  await handle.result()
  const { events } = await handle.fetchHistory()
  return { actions: countActions(events ?? []), events: events?.length ?? 0 }
}

function report(figures: Map<Case, Figures[]>, idleRate: Tally): void {
  const rows = [...figures].map(([one, runs]) => {
    const mean = (pick: (run: Figures) => number) =>
      runs.reduce((sum, run) => sum + pick(run), 0) / runs.length
    const seconds = mean((run) => run.seconds)
    const bareSeconds = mean((run) => run.bareSeconds)
    return [
      one.name,
      {
        seconds: round(seconds),
        'bare script': round(bareSeconds),
        'goal (1.25 x + 0.3)': round(1.25 * bareSeconds + 0.3),
        gas: Math.round(mean((run) => run.gas)),
        'gas (bare)': Math.round(mean((run) => run.bareGas)),
        // What a process asks every few minutes falls into one round and would move a mean.
        'RPC calls': round(
          quantile(
            runs.map((run) => sumOf(run.asked)),
            0.5,
          ),
        ),
        'RPC calls (bare)': Math.round(mean((run) => run.bareCalls)),
        actions: round(mean((run) => run.actions)),
        'goal (actions)': one.actions,
        events: round(mean((run) => run.events)),
      },
    ] as const
  })
  console.log(
    `Means of ${ROUNDS} rounds, one intent at a time; from POST to the GET, every ${POLL_MS} ms, that says completed.`,
  )
  console.table(Object.fromEntries(rows))
  console.log(
    `Load of the machine at the end: ${round(loadavg()[0] ?? 0)} on ${cpus().length} cores.`,
  )
  console.log(
    `RPC calls: the median of what the processes ask from POST until ${TAIL_MS} ms after completion, less what they ask in that time when there is nothing to do (${round(sumOf(idleRate))} per second for three chains). Looking for blocks more often while something is open counts; the blocks themselves do not. By what is asked, means:`,
  )
  for (const [{ name }, runs] of figures) console.log(`${name}: ${describe(runs)}`)
}

/** What one intent asks on average, the most first. */
function describe(runs: Figures[]): string {
  const sums: Tally = new Map()
  for (const { asked } of runs) {
    for (const [kind, count] of asked) sums.set(kind, (sums.get(kind) ?? 0) + count)
  }
  return [...scaled(sums, 1 / runs.length)]
    .map(([kind, count]) => [kind, round(count)] as const)
    .filter(([, count]) => count !== 0)
    .sort((a, b) => b[1] - a[1])
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ')
}
