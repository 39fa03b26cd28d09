import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { JsonRpcProvider } from 'ethers'
import { chainNames, type ChainName, type DevnetContracts } from '../chains/registry.js'
import { connect, type Db } from '../db/connection/connect.js'
import { grantCredits } from '../db/tenants/accounts.js'
import { judge, type OpenIntent } from '../test/chaos/verdict.js'
import { createHome, removeHome, startStack, type Stack } from '../test/e2e/stack.js'
import { createBalancedClient } from './scale/clients.js'
import { lendFromAll } from './scale/lending.js'
import { report } from './scale/report.js'
import { readHistory } from './scale/stores.js'
import { createWallets, endow } from './scale/wallets.js'
import type { Notes } from '../test/chaos/clients.js'
import type { Node } from '../test/e2e/world.js'

const USAGE = `Usage: npm run scale -- [--wallets 200] [--connections 32] [--replicas 2]

Starts Temporal's own server on a Postgres, as deploy/temporal configures it, and a stack on it with several processes
of each role. Lends from all wallets at once, twice: the second time one process of each role is killed in the middle.
Then it compares rows, chains and orders, and prints what was lost, what was doubled, and what each process cost.
Exits with 0 when nothing was lost or doubled.`

const options = {
  wallets: { type: 'string', default: '200' },
  connections: { type: 'string', default: '32' },
  replicas: { type: 'string', default: '2' },
  help: { type: 'boolean', default: false },
} as const

const CHAIN = 'arbitrum-sepolia'
const ENDOWMENT = 10_000_000n
/** The first process of a role leads whatever one process at a time may do: it is the one that is missed most. */
const KILLED = ['api', 'worker', 'lanes', 'signer'] as const

const { values } = parseArgs({ options })
if (values.help) console.log(USAGE)
else process.exitCode = await main()

async function main(): Promise<number> {
  const home = await createHome()
  const stack = await startStack(home, { TEMPORAL_STORE: 'postgres', REPLICAS: values.replicas })
  const db = connect(stack.facts.databaseUrl, 2)
  const nodes = readNodes(stack)
  try {
    return await run({ stack, db, nodes })
  } finally {
    for (const { provider } of Object.values(nodes)) provider.destroy()
    await db.destroy()
    await stack.stop()
    removeHome(home)
  }
}

type Nodes = Record<ChainName, Node>
type Scene = { stack: Stack; db: Db; nodes: Nodes }

async function run({ stack, db, nodes }: Scene): Promise<number> {
  const accounts = await db('account').update({ rpm: 1_000_000 }).returning<{ id: string }[]>('id')
  for (const { id } of accounts) await grantCredits(db, id, { credits: 1_000_000 })
  const call = createBalancedClient(stack.facts)
  const wallets = await createWallets(call, Number(values.wallets))
  await endow(wallets, { chain: CHAIN, node: nodes[CHAIN], units: ENDOWMENT, db })
  console.log(`${wallets.length} wallets have money.`)

  const notes: Notes = { ordered: [], refused: [], faults: [], tries: 0 }
  const scene = { stack, db, call, notes, wallets }
  const connections = Number(values.connections)
  const rounds = [
    await lendFromAll(scene, { name: 'undisturbed', connections, kill: [] }),
    await lendFromAll(scene, { name: 'one of each killed', connections, kill: KILLED }),
  ]
  const open = await db('intent')
    .whereNotIn('status', ['completed', 'failed'])
    .select<OpenIntent[]>('id', 'status', db.raw('(clock_timestamp() - created_at)::text as age'))
  const verdict = await judge({ db, nodes, wallets, notes, open })
  const { temporalCluster } = stack.facts
  const history = temporalCluster ? await readHistory(temporalCluster.databaseUrl) : undefined
  report(rounds, verdict, history)
  return Object.values(verdict).every((found) => found.length === 0) ? 0 : 1
}

function readNodes({ home, facts }: Stack): Nodes {
  const text = readFileSync(join(home, 'devnet.json'), 'utf8')
  const contracts = JSON.parse(text) as Record<ChainName, DevnetContracts>
  const nodes = chainNames.map((name) => {
    const url = facts.rpcUrls[name] ?? ''
    const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1 })
    return [name, { url, provider, contracts: contracts[name] }] as const
  })
  return Object.fromEntries(nodes) as Nodes
}
