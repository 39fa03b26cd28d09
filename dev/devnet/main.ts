import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { z } from 'zod'
import {
  chainNames,
  createRegistry,
  type ChainName,
  type DevnetContracts,
} from '../../evm/registry.js'
import { type Anvil } from './anvil.js'
import { type BurnChain } from './iris/attestation.js'
import { writeWhole } from './cache.js'
import { devnetTerms, portVariable } from './chains.js'
import { deployChain, fundOperators } from './deploy.js'
import { startIris } from './iris/iris.js'
import { startNode } from './node.js'

/** Interval of the look-up of the signer's accounts. A new deployment waits this long for its first money. */
const FUND_EVERY_MS = 2_000
const CONNECT_TIMEOUT_MS = 3_000

/** Postgres error code for a missing table, before the first migration. */
const UNDEFINED_TABLE = '42P01'

const port = z.coerce.number().int().min(0).max(65_535)
const settings = z
  .object({
    /** Address on which nodes and attestations listen. Every client that reaches them controls the chains. */
    HOST: z.string().default('127.0.0.1'),
    IRIS_PORT: port.default(8548),
    DEVNET_FILE: z.string().min(1),
    /** Folder of the state files. Without it the chains end with the process. */
    DEVNET_STATE: z.string().min(1).optional(),
    DATABASE_URL: z.string().min(1).optional(),
  })
  .parse(process.env)

const portOf = (name: ChainName) =>
  port.default(devnetTerms[name].port).parse(process.env[portVariable(name)])

type LocalChain = { name: ChainName; chainId: number; node: Anvil; contracts: DevnetContracts }

const log = pino({ name: 'devnet' })
const stopping = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => stopping.abort(signal))
}

const parts: { stop(): Promise<void> }[] = []
try {
  const chains = await Promise.all(chainNames.map(startChain))
  const contracts = chains.map((chain) => [chain.name, chain.contracts])
  const iris = await startIris({
    chains: chains.map(describeBurns),
    host: settings.HOST,
    port: settings.IRIS_PORT,
  })
  parts.push(iris)
  await writeWhole(settings.DEVNET_FILE, JSON.stringify(Object.fromEntries(contracts), null, 2))
  log.info({ file: settings.DEVNET_FILE, attestations: iris.url }, 'devnet ready')
  await keepFunded(chains)
} finally {
  log.info('devnet stopping')
  await Promise.all(parts.map((part) => part.stop()))
}

async function startChain(name: ChainName): Promise<LocalChain> {
  const { chainId } = createRegistry('testnet').get(name)
  const node = await startNode(name, {
    chainId,
    host: settings.HOST,
    port: portOf(name),
    blockTimeSeconds: devnetTerms[name].blockSeconds,
    baseFeeWei: devnetTerms[name].baseFeeWei,
    mining: 'tended',
    ...(settings.DEVNET_STATE
      ? { stateFile: path.join(settings.DEVNET_STATE, `${name}.json`) }
      : {}),
  })
  parts.push(node)
  const contracts = await deployChain(name, node.url)
  log.info({ chain: name, url: node.url, node: node.pid }, 'chain deployed')
  return { name, chainId, node, contracts }
}

function describeBurns({ name, node, contracts }: LocalChain): BurnChain {
  const { domain } = createRegistry('testnet').get(name).cctp
  return { domain, rpcUrl: node.url, transmitter: contracts.messageTransmitter }
}

/** Returns when the process shall end. */
async function keepFunded(chains: LocalChain[]): Promise<void> {
  const pool = settings.DATABASE_URL ? createPool(settings.DATABASE_URL) : undefined
  let reported = ''
  while (!stopping.signal.aborted) {
    try {
      if (pool) await fundAll(pool, chains)
      reported = ''
    } catch (error) {
      // A database that is down or not migrated stays so for many attempts. One log line is enough.
      const reason = (error as { code?: string }).code ?? (error as Error).name
      if (reason !== reported && reason !== UNDEFINED_TABLE) log.warn({ reason }, 'cannot fund yet')
      reported = reason
    }
    await sleep(FUND_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
  }
  await pool?.end()
}

function createPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', () => undefined)
  return pool
}

async function fundAll(pool: pg.Pool, chains: LocalChain[]): Promise<void> {
  const { rows } = await pool.query<{ chain_id: string; sender: string }>(
    'select chain_id, sender from sender',
  )
  const treasuries = await pool.query<{ address: string }>('select address from treasury')
  const treasury = treasuries.rows[0]?.address
  for (const { name, chainId, node, contracts } of chains) {
    const own = rows.filter(({ chain_id }) => Number(chain_id) === chainId)
    const senders = own.map(({ sender }) => sender)
    const operators = { senders, ...(treasury ? { treasury } : {}) }
    const funded = await fundOperators(node.url, contracts, operators)
    if (funded.length > 0) log.info({ chain: name, funded }, 'operators funded')
  }
}
