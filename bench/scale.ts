import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { JsonRpcProvider } from 'ethers'
import { readDevnetFile } from '../evm/devnetFile.js'
import { rpcVariable, type ChainName } from '../evm/registry.js'
import { connect, type Db } from '../db/client/connect.js'
import { grantCredits } from '../db/accounts/accounts.js'
import { services } from '../dev/stack/parts.js'
import { judge, type OpenIntent } from '../test/chaos/verdict.js'
import { createHome, removeHome, startStack, type Stack } from '../test/e2e/stack.js'
import { readHistories } from './histories.js'
import { createBalancedClient } from './scale/clients.js'
import { readCounters, since, type Counters, type Metered } from './scale/counters.js'
import { lendFromAll } from './scale/lending.js'
import { startMeteredNodes, type MeteredNode } from './scale/nodes.js'
import { watchProcesses } from './scale/processes.js'
import { describeCosts, report } from './scale/report.js'
import { busiest } from './scale/shares.js'
import { prepareStores } from './scale/stores.js'
import { createWallets, endow } from './scale/wallets.js'
import { pidsOf } from './usage.js'
import type { Notes } from '../test/chaos/clients.js'
import type { ChainNode } from '../test/e2e/world.js'

const USAGE = `Usage: npm run scale -- [--wallets 200] [--connections 32] [--replicas 2] [--write docs/performance.md]

Starts Temporal's own server on a Postgres, as deploy/temporal configures it, and a stack on it with several processes
of each role. Lends from all wallets at once, again and again: after the first time the busiest process of one role is
killed in the middle, role by role, and at last one of each. Then it compares rows, chains and orders, and prints what
was lost, what was doubled, how long nothing was completed, who has done what, and what a lend cost. --write puts the
costs into a page, between its marks. Exits with 0 when nothing was lost or doubled.`

const options = {
  wallets: { type: 'string', default: '200' },
  connections: { type: 'string', default: '32' },
  replicas: { type: 'string', default: '2' },
  write: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

const CHAIN = 'arbitrum-sepolia'
const ENDOWMENT = 10_000_000n
/** Waits for the work at the start to settle. */
const SETTLING_MS = 5_000
/** Temporal's 512 shards write their state at intervals, so single seconds vary widely. */
const IDLE_MS = 60_000

const { values } = parseArgs({ options })
if (values.help) console.log(USAGE)
else await main()

async function main(): Promise<void> {
  const home = await createHome()
  const chains = await startMeteredNodes()
  const env = { TEMPORAL_STORE: 'postgres', REPLICAS: values.replicas, ...toVariables(chains.list) }
  await prepareStores({ ...env, STEWARD_HOME: home })
  const stack = await startStack(home, env)
  const db = connect(stack.facts.databaseUrl, 2)
  const nodes = readNodes(home, chains.list)
  const watch = watchProcesses(pidsReader(stack, chains.list))
  try {
    await run({ stack, db, nodes, metered: { stack, watch, nodes: chains.list } })
  } finally {
    watch.stop()
    for (const { provider } of Object.values(nodes)) provider.destroy()
    await db.destroy()
    await stack.stop()
    await chains.stop()
    removeHome(home)
  }
}

type Nodes = Record<ChainName, ChainNode>
type ScaleRun = { stack: Stack; db: Db; nodes: Nodes; metered: Metered }

async function run({ stack, db, nodes, metered }: ScaleRun): Promise<void> {
  const accounts = await db('account').update({ rpm: 1_000_000 }).returning<{ id: string }[]>('id')
  for (const { id } of accounts) await grantCredits(db, id, { credits: 1_000_000 })
  const call = createBalancedClient(stack.facts)
  const wallets = await createWallets(call, Number(values.wallets))
  await endow(wallets, { chain: CHAIN, node: nodes[CHAIN], units: ENDOWMENT, db })
  console.log(`${wallets.length} wallets have money.`)
  const idle = await measureIdle(metered)

  const notes: Notes = { ordered: [], refused: [], faults: [], tries: 0 }
  const scene = { ...metered, db, call, notes, wallets, replicas: Number(values.replicas) }
  const connections = Number(values.connections)
  const undisturbed = await lendFromAll(scene, { name: 'undisturbed', connections, kill: [] })
  const rounds = [undisturbed]
  const memory = metered.watch.readMemory()
  const processes = Object.entries(memory).map(([name, mb]) => {
    return { name, mb, idleCores: idle.cores.get(name) ?? 0 }
  })
  const [history, bundles] = [
    await readHistories(stack.facts.temporalAddress, undisturbed.ids),
    await readBundles(db, undisturbed.ids),
  ]
  for (const roles of [...services.map((service) => [service]), services]) {
    const shares = (rounds.at(-1) ?? undisturbed).shares
    const kill = roles.map((service) => busiest(shares, service))
    const name = roles.length > 1 ? 'one of each killed' : `${roles.join()} killed`
    rounds.push(await lendFromAll(scene, { name, connections, kill }))
  }
  const open = await db('intent')
    .whereNotIn('status', ['completed', 'failed'])
    .select<OpenIntent[]>('id', 'status', db.raw('(clock_timestamp() - created_at)::text as age'))
  const verdict = await judge({ db, nodes, wallets, notes, open })
  const found = {
    rounds,
    verdict,
    idle: idle.used,
    history,
    processes,
    bundles,
  }
  report(found)
  if (values.write) writeBetweenMarks(values.write, describeCosts(found))
}

/** An idle second of a stack: its counters, and CPU seconds by process. */
async function measureIdle(metered: Metered): Promise<{ used: Counters; cores: Counters }> {
  await sleep(SETTLING_MS)
  const [before, cpuBefore] = [await readCounters(metered), metered.watch.read()]
  await sleep(IDLE_MS)
  const [used, cores] = [
    since(before, await readCounters(metered)),
    since(cpuBefore, metered.watch.read()),
  ].map((all) => new Map([...all].map(([name, value]) => [name, value / (IDLE_MS / 1_000)]))) as [
    Counters,
    Counters,
  ]
  return { used, cores }
}

async function readBundles(db: Db, ids: string[]) {
  const { rows } = await db.raw<{ rows: Bundles[] }>(
    `select count(*)::int as operations, count(distinct tx_id)::int as bundles,
       avg(gas_used)::float as gas
     from operation where intent_id = any(?) and tx_id is not null`,
    [ids],
  )
  return rows[0] ?? { operations: 0, bundles: 0, gas: NaN }
}

type Bundles = { operations: number; bundles: number; gas: number }

/** Replaces the lines of a page between two marks. */
function writeBetweenMarks(file: string, lines: string[]): void {
  const [begin, end] = ['<!-- costs: begin -->', '<!-- costs: end -->']
  const page = readFileSync(file, 'utf8')
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${file} has no ${begin} before an ${end}.`)
  writeFileSync(file, [page.slice(0, from) + begin, '', ...lines, '', page.slice(to)].join('\n'))
}

function toVariables(nodes: MeteredNode[]): NodeJS.ProcessEnv {
  return Object.fromEntries(nodes.map(({ name, meteredUrl }) => [rpcVariable(name), meteredUrl]))
}

/** Process ids change with a restart. Those of the devnet do not. */
function pidsReader(stack: Stack, chains: MeteredNode[]): () => Record<string, number> {
  const { devnet = 0 } = pidsOf(stack.readFacts().pids)
  const nodes = chains.map(({ name, pid }) => [`node ${name}`, pid] as const)
  return () => {
    const entries = Object.entries(stack.readFacts().pids as Record<string, unknown>)
    const running = entries.filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    )
    return { ...Object.fromEntries([...running, ...nodes]), devnet, bench: process.pid }
  }
}

function readNodes(home: string, chains: MeteredNode[]): Nodes {
  const contracts = readDevnetFile(join(home, 'devnet.json'))
  const nodes = chains.map(({ name, url }) => {
    const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1 })
    return [name, { url, provider, contracts: contracts[name] }] as const
  })
  return Object.fromEntries(nodes) as Nodes
}
