import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { toQuantity } from 'ethers'
import { chainFacts, createRegistry } from '../chains/registry.js'
import { connect, type Db } from '../db/connection/connect.js'
import { insertIntent } from '../db/intents/intents.js'
import { setDispatched } from '../db/intents/status.js'
import { insertReservation } from '../db/lanes/reservations.js'
import { startAnvil } from '../devnet/anvil.js'
import { devnetTerms } from '../devnet/chains.js'
import { callRpc } from '../devnet/rpc.js'
import { connectTemporal } from '../temporal/connect.js'
import { startIntent } from '../temporal/start.js'
import { createHome, removeHome, startStack, until, type Stack } from '../test/e2e/stack.js'
import { createCallers, inTurns, quantile } from './callers.js'
import { pidsOf, readCpu, spent, sum, type Cpu } from './usage.js'
import type { ExecutionPlan } from '../domain/intent.js'

/**
 * Intents that wait on a chain that stands still, beside another chain that works: what they cost all together, and
 * whether lending on the other chain takes longer. With `--why attestation` it is the bridge that stands still.
 */
const { values } = parseArgs({
  options: {
    intents: { type: 'string', default: '5000' },
    why: { type: 'string', default: 'blocks' },
    lendings: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
  },
})
const INTENTS = Number(values.intents)
const WHY = values.why as 'blocks' | 'attestation'
const LENDINGS = Number(values.lendings)
const SECONDS = Number(values.seconds)
const WALLETS = 50
const CONNECTIONS = 16
const [POLL_MS, GOING_POLL_MS] = [20, 500]
/** By then every step has given its slot back, and operators were told what holds it up. */
const SETTLED_MS = 120_000
/** Goals: of a core, and of the other chain's latency. */
const MOST_CORE = 0.1
const MOST_GROWTH = 0.1

const ARBITRUM = 'arbitrum-sepolia'
const BASE = 'base-sepolia'
/** Where the money of those that wait is. */
const SOURCE = WHY === 'blocks' ? BASE : ARBITRUM
const UNITS = 10_000n
const OWNER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

type Callers = ReturnType<typeof createCallers>
type Wallet = { id: string; accountId: string; address: string }
type Bench = { stack: Stack; db: Db; callers: Callers; nodeUrl: string }

const home = await createHome()
const { blockSeconds: blockTimeSeconds } = devnetTerms[BASE]
const { chainId } = chainFacts[BASE]
const node = await startAnvil({ chainId, blockTimeSeconds })
// As in bench:saturation: what the other chain's node writes into a growing file is no cost of those that wait.
const stack = await startStack(home, {
  RPC_URL_BASE_SEPOLIA: node.url,
  DEVNET_STATE_SECONDS: '86400',
})
const db = connect(stack.facts.databaseUrl, CONNECTIONS)
const callers = createCallers(stack.facts, CONNECTIONS)
try {
  await measure({ stack, db, callers, nodeUrl: node.url })
} finally {
  callers.hangUp()
  await db.destroy()
  await stack.stop()
  await node.stop()
  removeHome(home)
}

async function measure(bench: Bench): Promise<void> {
  await db('account').update({ rpm: 1_000_000_000, purchased: 1_000_000_000 })
  const wallets = await openWallets(bench)
  const lender = wallets.pop() as Wallet
  const { id: pattern } = await runIntent({
    walletId: (wallets[0] as Wallet).id,
    amount: 1,
    chain: BASE,
  })
  await lend(lender, 3)
  await sleep(5_000)
  const [idle, alone] = [await watch(), await lend(lender, LENDINGS)]
  await setStanding(bench, true)
  await startWaiting(bench, wallets, pattern)
  await untilWaiting()
  console.log(`${INTENTS} intents wait`)
  const early = await watch()
  await sleep(Math.max(SETTLED_MS - SECONDS * 1_000, 0))
  const [held, beside] = [await watch(), await lend(lender, LENDINGS)]
  report({ idle, early, held, alone, beside })
  const seconds = await goOn(bench)
  const [failed] = await db('intent')
    .where({ status: 'failed' })
    .count<{ count: bigint }[]>('* as count')
  console.log(
    `Let go on, all are over after ${seconds.toFixed(0)} s, ${(INTENTS / seconds).toFixed(1)} a second, ` +
      `${failed?.count} failed`,
  )
}

async function openWallets({ nodeUrl }: Bench): Promise<Wallet[]> {
  const names = Array.from({ length: WALLETS + 1 }, (_, i) => `bench ${i}`)
  const made = await callers.postEach(names, '/wallets', (userId) => ({ userId, metadata: {} }))
  const account = await db('account').first<{ id: string }>('id')
  const wallets = made.map(({ body }) => ({
    ...{ id: String(body.id), accountId: account.id, address: String(body.address) },
  }))
  for (const { address } of wallets.slice(0, -1)) {
    await mint(SOURCE === BASE ? nodeUrl : (stack.facts.rpcUrls[ARBITRUM] ?? ''), address)
  }
  const lender = wallets.at(-1) as Wallet
  await mint(stack.facts.rpcUrls[ARBITRUM] ?? '', lender.address)
  // What was just given is booked with its block.
  await sleep(3_000)
  return wallets
}

async function mint(url: string, address: string): Promise<void> {
  const name = url === node.url ? BASE : ARBITRUM
  const { usdc } = createRegistry('devnet', `${home}/devnet.json`).get(name)
  const words = [BigInt(address), 1_000_000_000n].map((n) => n.toString(16).padStart(64, '0'))
  const call = { from: OWNER, to: usdc.address, data: `0x40c10f19${words.join('')}` }
  await callRpc(url, 'eth_sendTransaction', [{ ...call, gas: toQuantity(200_000) }])
}

/** Lends and waits until it is over. */
async function runIntent({
  walletId,
  ...wish
}: {
  walletId: string
  amount: number
  chain: string
}) {
  const body = { action: 'lend', walletId, asset: 'USDC', ...wish }
  const begun = performance.now()
  const [created] = await callers.postEach([body], '/intents', (one) => one)
  const id = String(created?.body.id)
  for (;;) {
    const { status } = await db('intent').where({ id }).first<{ status: string }>('status')
    if (status === 'completed') return { id, tookMs: performance.now() - begun }
    if (status === 'failed') throw new Error(`${id} has failed.`)
    await sleep(POLL_MS)
  }
}

/** @returns What each of so many lendings on the chain that works has taken, ms. */
async function lend({ id: walletId }: Wallet, count: number): Promise<number[]> {
  const took: number[] = []
  for (let i = 0; i < count; i++) {
    took.push((await runIntent({ walletId, amount: 0.05, chain: ARBITRUM })).tookMs)
  }
  return took
}

async function setStanding({ nodeUrl }: Bench, isStill: boolean): Promise<void> {
  if (WHY === 'blocks') {
    await callRpc(nodeUrl, 'evm_setIntervalMining', [isStill ? 0 : blockTimeSeconds])
    return
  }
  const body = JSON.stringify({ stuck: isStill })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${stack.facts.attestationUrl}/dev/faults`, {
    method: 'POST',
    headers,
    body,
  })
  if (!answer.ok) throw new Error(`No fault: HTTP ${answer.status}`)
}

/** Lets all that waits go on. @returns Seconds until the last one is over. */
async function goOn(bench: Bench): Promise<number> {
  const begun = performance.now()
  await setStanding(bench, false)
  const live = () => db('intent').whereNotIn('status', ['completed', 'failed'])
  while (await live().first<object | undefined>('id')) await sleep(GOING_POLL_MS)
  return (performance.now() - begun) / 1_000
}

/** As the API does it, but for the planning: all have the plan of one that was planned. */
async function startWaiting(bench: Bench, wallets: Wallet[], pattern: string): Promise<void> {
  const { plan } = await db('intent').where({ id: pattern }).first<{ plan: ExecutionPlan }>('plan')
  const { chainId, usdc } = createRegistry('devnet', `${home}/devnet.json`).get(SOURCE)
  const steps = plan.steps.map((step) => ({ ...step, amount: '0.01' }))
  const order = {
    request: { action: 'lend', asset: 'USDC', amountUnits: UNITS, chain: BASE } as const,
    ...{ units: UNITS, plan: { ...plan, steps } },
  }
  const temporal = connectTemporal(bench.stack.facts.temporalAddress, 'default')
  const items = Array.from({ length: INTENTS }, (_, i) => wallets[i % wallets.length] as Wallet)
  await inTurns(items, CONNECTIONS, async ({ id: walletId, accountId }) => {
    const intent = await db.transaction(async (trx) => {
      const made = await insertIntent(trx, { accountId, walletId, requestId: 'bench' }, order)
      const at = { walletId, chainId, token: usdc.address, units: UNITS }
      await insertReservation(trx, { intentId: made.id, sequence: 1, ...at })
      return made
    })
    // The sweeper starts what is not started here.
    await startIntent(temporal, { intent, tier: 'pro', userId: 'bench' })
      .then(() => setDispatched(db, intent.id))
      .catch(() => undefined)
  })
  await temporal.connection.close()
}

/** Blocks: all have ordered. Attestation: all have burned. */
async function untilWaiting(): Promise<void> {
  const states = WHY === 'blocks' ? ['queued', 'deferred', 'signed'] : ['confirmed', 'final']
  const kind = WHY === 'blocks' ? 'deposit' : 'bridge'
  await until(
    async () => {
      const [row] = await db('operation')
        .where({ kind })
        .whereIn('state', states)
        .count<{ count: bigint }[]>('* as count')
      return Number(row?.count ?? 0)
    },
    (count) => count >= INTENTS,
  )
}

/** CPU as shares of a core, and transactions a second of the database. */
type Watched = { cpu: Cpu; commits: number }

async function watch(): Promise<Watched> {
  const pids = pidsOf(stack.readFacts().pids)
  const read = async () => {
    const row = await db('pg_stat_database')
      .whereRaw('datname = current_database()')
      .first<{ commits: bigint }>('xact_commit as commits')
    return { cpu: readCpu(pids), commits: Number(row.commits), at: performance.now() }
  }
  const before = await read()
  await sleep(SECONDS * 1_000)
  const after = await read()
  const seconds = (after.at - before.at) / 1_000
  const used = Object.entries(spent(before.cpu, after.cpu))
  const cpu = Object.fromEntries(used.map(([name, s]) => [name, s / seconds]))
  return { cpu, commits: (after.commits - before.commits) / seconds }
}

type Told = { idle: Watched; early: Watched; held: Watched; alone: number[]; beside: number[] }

function report({ idle, early, held, alone, beside }: Told): void {
  const names = Object.keys(idle.cpu).filter((name) => !['bench', 'devnet'].includes(name))
  const rows = names.map((name) => {
    const share = ({ cpu }: Watched) => Number((cpu[name] ?? 0).toFixed(3))
    return [name, { idle: share(idle), 'at first': share(early), then: share(held) }] as const
  })
  console.table(Object.fromEntries(rows))
  const total = ({ cpu }: Watched) => sum(names.map((name) => cpu[name] ?? 0))
  const more = total(held) - total(idle)
  const [p50, p50Beside] = [quantile(alone, 0.5), quantile(beside, 0.5)]
  const growth = p50Beside / p50 - 1
  console.log(
    `${INTENTS} waiting cost ${(100 * more).toFixed(1)} % of a core together (goal ${100 * MOST_CORE} %), and ` +
      `${(held.commits - idle.commits).toFixed(0)} transactions a second of the database`,
  )
  console.log(
    `lending on the other chain: p50 ${p50.toFixed(0)} ms alone, ${p50Beside.toFixed(0)} ms beside them ` +
      `(${(100 * growth).toFixed(1)} %, goal ${100 * MOST_GROWTH} %)`,
  )
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores.`)
  if (more > MOST_CORE || growth > MOST_GROWTH) process.exitCode = 1
}
