import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connectChains } from '../evm/connect.js'
import { createRegistry } from '../evm/registry.js'
import { connect, type Db } from '../db/client/connect.js'
import { connectAttestations } from '../evm/bridges/bridges.js'
import {
  createClient,
  createHome,
  removeHome,
  startStack,
  until,
  type Stack,
} from '../test/e2e/stack.js'
import { createBareScript, endow, type BareScript } from './baseline/bareScript.js'
import { createCallers, quantile } from './callers.js'
import { pageOption } from './page.js'
import { printVerdict } from './verdict.js'
import type { StepPlan } from '../domain/intent/intent.js'

/**
 * Measures one intent at a time, from POST to the GET that reports `completed`. The baseline is a script that sends
 * the calls of the same plan on the same chains and stores nothing.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, ...pageOption },
})
/** Measured rounds. One before them delegates the wallet. */
const ROUNDS = Number(values.rounds)
const POLL_MS = 50
/** Blocks come at fixed times of a second, so an intent and its script start at the same offset. */
const SECOND_MS = 1_000
const ENDOWMENT = 1_000_000_000n
/** Goal in seconds: 1.25 times the script's duration plus 0.3 s. */
const [SHARE, EXTRA] = [1.25, 0.3]

const ARBITRUM = 'arbitrum-sepolia'
const ETHEREUM = 'ethereum-sepolia'
const BASE = 'base-sepolia'
/** The bridged lend needs more money than the bridged transfers leave on its chain. */
const cases = [
  { name: 'direct-deposit', body: { action: 'lend', amount: 2, chain: ARBITRUM } },
  { name: 'direct-withdraw', body: { action: 'withdraw', amount: 1, chain: ARBITRUM } },
  { name: 'lend with swap', body: { action: 'lend', amount: 2, chain: ETHEREUM } },
  {
    name: 'direct-bridge',
    body: { action: 'bridge', amount: 1, fromChain: ARBITRUM, toChain: BASE },
  },
  { name: 'single-bridge', body: { action: 'lend', amount: 100, chain: BASE } },
]
type IntentCase = (typeof cases)[number]
type Seconds = { steward: number; script: number }
type Bench = {
  stack: Stack
  db: Db
  callers: ReturnType<typeof createCallers>
  script: BareScript
  walletId: string
}

const home = await createHome()
const stack = await startStack(home)
try {
  await run()
} finally {
  await stack.stop()
  removeHome(home)
}

async function run(): Promise<void> {
  const { facts } = stack
  const db = connect(facts.databaseUrl, 2)
  const registry = createRegistry('devnet', join(home, 'devnet.json'))
  const chains = connectChains(registry, facts.rpcUrls)
  const tools = { chains, registry, attestations: connectAttestations(facts.attestationUrl) }
  const script = createBareScript(tools)
  await db('account').update({ rpm: 1_000_000, purchased: 1_000_000 })
  const callers = createCallers(facts, 1)
  const { body } = await callers.post('/wallets', { userId: 'bench', metadata: {} })
  for (const address of [script.address, String(body.address)]) {
    await endow(tools, address, [ARBITRUM, ETHEREUM], ENDOWMENT)
  }
  const bench = { stack, db, callers, script, walletId: String(body.id) }
  const measured = new Map<IntentCase, Seconds[]>(cases.map((one) => [one, []]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const one of cases) {
      const seconds = await runCase(bench, one, (round * SECOND_MS) / (ROUNDS + 1))
      if (round > 0) measured.get(one)?.push(seconds)
    }
  }
  report(measured)
  callers.hangUp()
  for (const client of chains.list) client.close()
  await db.destroy()
}

async function runCase(bench: Bench, one: IntentCase, phaseMs: number): Promise<Seconds> {
  await untilPhase(phaseMs)
  const [id, steward] = await timed(() => runIntent(bench, one))
  const row = await bench
    .db('intent')
    .where({ id })
    .first<{ plan: StepPlan; units: string }>('plan', 'units')
  await untilPhase(phaseMs)
  const [, script] = await timed(() => bench.script.execute(row.plan, BigInt(row.units)))
  return { steward, script }
}

async function untilPhase(phaseMs: number): Promise<void> {
  const late = performance.now() % SECOND_MS
  await sleep((phaseMs - late + SECOND_MS) % SECOND_MS)
}

/** The result of an action and its duration in seconds. */
async function timed<T>(action: () => Promise<T>): Promise<[T, number]> {
  const begun = performance.now()
  return [await action(), (performance.now() - begun) / 1_000]
}

/** Creates an intent and polls it every 50 ms until it is completed. Returns its id. */
async function runIntent(
  { stack, callers, walletId }: Bench,
  { name, body }: IntentCase,
): Promise<string> {
  const call = createClient(stack.facts)
  const created = await until(
    () => callers.post('/intents', { walletId, asset: 'USDC', ...body }),
    // The first deposit of the wallet may not be indexed yet.
    (answer) => answer.body.error !== 'INSUFFICIENT_FUNDS',
  )
  const id = String(created.body.id)
  if (created.status !== 201) throw new Error(`${name}: ${JSON.stringify(created.body)}`)
  for (;;) {
    const { body: intent } = await call('GET', `/intents/${id}`)
    if (intent.status === 'completed') return id
    if (intent.status === 'failed') throw new Error(`${name}: ${JSON.stringify(intent.error)}`)
    await sleep(POLL_MS)
  }
}

function report(measured: Map<IntentCase, Seconds[]>): void {
  const lines = [...measured].map(([{ name }, runs]) => {
    const median = (of: keyof Seconds) =>
      quantile(
        runs.map((one) => one[of]),
        0.5,
      )
    const [steward, baseline] = [median('steward'), median('script')]
    const atMost = (SHARE * baseline + EXTRA) / baseline
    return { metric: `${name}, s`, steward, baseline, atMost }
  })
  printVerdict(lines, { write: values.write })
}
