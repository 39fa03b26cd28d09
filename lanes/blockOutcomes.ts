import { mayHold } from '../chains/bloom.js'
import { isRevert, type ChainClient } from '../chains/connect.js'
import { readLogRange } from '../chains/logRange.js'
import { readEthPrice } from '../chains/prices.js'
import { readLogs, readReceipt, type Block, type Log, type Receipt } from '../chains/read.js'
import { type MinedOperation } from '../db/lanes/booking.js'
import { MANY_OPEN, type Concern } from '../db/lanes/emptyBlocks.js'
import {
  findOperationsByKey,
  hasOpenOperations,
  readOpenSends,
  type OpenSend,
} from '../db/lanes/watched.js'
import { isOutcomeOf, outcomeFilter, outcomeFilters, readOutcome } from '../protocols/outcomes.js'
import { toMined } from './outcomeLogs.js'
import type { Chain } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { DriverTools } from './driverTools.js'

/** What blocks say that may be of ours: logs, and our own transactions in them. */
type Said = { logs: Log[]; carried: Carried[] }

/**
 * What blocks say of what is open. Where our own transactions in them tell the outcome of all that is, no logs are
 * asked for, which nodes charge most for; of much that is open, both are asked for at once.
 *
 * @param through - The endpoint that the blocks came from.
 * @returns Undefined when a block has to be read again: its header speaks of logs that did not come.
 */
export async function readSaid(
  tools: DriverTools,
  { through, blocks }: { through: ChainClient; blocks: Block[] },
  { isAwaited, openKeys }: Pick<Concern, 'isAwaited' | 'openKeys'>,
): Promise<Said | undefined> {
  const carrying = isAwaited ? readCarried(through, tools.db, blocks) : Promise.resolve([])
  const told = openKeys.length < MANY_OPEN ? keysIn(through.chain, await carrying) : new Set()
  const isAllTold = openKeys.every((key) => told.has(key))
  const reading = isAllTold ? [] : readOutcomeLogs(tools, through, blocks)
  const [carried, logs] = await Promise.all([carrying, reading])
  return logs && { logs, carried }
}

const keysIn = (chain: Chain, carried: Carried[]): Set<string> =>
  new Set(outcomesIn(chain, logsOf(carried)).map(({ key }) => key))

const logsOf = (carried: Carried[]) => carried.flatMap(({ receipt }) => receipt.logs)

const outcomesIn = (chain: Chain, logs: Log[]) =>
  logs.map((log) => readOutcome(chain, log)).filter((outcome) => outcome !== undefined)

/** Readings after which empty logs are believed: a bloom speaks of logs that are not there, too. */
const EMPTY_READS = 3

/** Logs of linked blocks that may be outcomes of our operations, undefined when a block has to be read again. */
async function readOutcomeLogs(
  tools: DriverTools,
  through: ChainClient,
  blocks: Block[],
): Promise<Log[] | undefined> {
  const logs = await Promise.all(blocks.map((block) => readBlockLogs(tools, through, block)))
  if (logs.some((found) => found === undefined)) return undefined
  tools.seen.emptyReads.clear()
  return logs.flatMap((found) => found ?? [])
}

async function readBlockLogs(
  { client, seen: { emptyReads } }: DriverTools,
  through: ChainClient,
  block: Block,
): Promise<Log[] | undefined> {
  const { hash, logsBloom } = block
  const isSpokenOf = outcomeFilters(client.chain).some((one) => mayHold(logsBloom, one))
  if (!isSpokenOf && tellsOfLogs(block)) return []
  const logs = await readLogsAt(through, hash)
  if (logs.length > 0 || !isSpokenOf) return logs
  // A node may know a block before it has filed its logs.
  const other = client.endpoints.find((endpoint) => endpoint !== through)
  const elsewhere = other && (await readLogsAt(other, hash).catch(() => undefined))
  if (elsewhere) return elsewhere
  const reads = (emptyReads.get(hash) ?? 0) + 1
  emptyReads.set(hash, reads)
  return reads < EMPTY_READS ? undefined : []
}

/** False where a header may leave out what it should say of logs: a blank bloom beside transactions is not believed. */
const tellsOfLogs = ({ logsBloom, transactions }: Block): boolean =>
  transactions.length === 0 || /[1-9a-f]/i.test(logsBloom.slice(2))

async function readLogsAt(client: ChainClient, blockHash: string): Promise<Log[]> {
  const logs = await readLogs(client, { blockHash }, outcomeFilter(client.chain))
  if (logs.every((log) => log.blockHash === blockHash)) return logs
  throw new Error('The logs belong to other blocks than the headers.')
}

/** Logs of a range of finalized blocks that may be outcomes of our operations. */
export async function readFinalizedLogs(
  db: Db,
  through: ChainClient,
  range: { from: bigint; to: bigint },
): Promise<Log[]> {
  const { chain } = through
  if (!(await hasOpenOperations(db, chain.chainId))) return []
  return readLogRange(through, range, outcomeFilter(chain))
}

/** The operations whose outcomes are among the logs, or among those of our own transactions. */
export async function matchOutcomes(
  { db, client, log: report }: Pick<DriverTools, 'db' | 'client' | 'log'>,
  logs: Log[],
  carried: Carried[],
): Promise<MinedOperation[]> {
  const { chain } = client
  const outcomes = outcomesIn(chain, [...logs, ...logsOf(carried)])
  if (outcomes.length === 0) return []
  const keys = [...new Set(outcomes.map(({ key }) => key))]
  const operations = await findOperationsByKey(db, chain.chainId, keys)
  const matched = operations.flatMap((operation) => {
    const outcome = outcomes.find((candidate) => isOutcomeOf(candidate, operation))
    return outcome && operation.blockHash !== outcome.log.blockHash ? [{ operation, outcome }] : []
  })
  if (matched.length === 0) return []
  const ethPriceE8 = await readEthPrice(client).catch((error: unknown) => {
    if (!isRevert(error)) throw error
    report.error({ err: error, chain: chain.name }, 'no price of ETH, gas counts as free')
    return 0n
  })
  const known = new Map(carried.map(({ receipt }) => [receipt.transactionHash, receipt]))
  return Promise.all(
    matched.map(async ({ operation, outcome }) => {
      const { transactionHash, blockHash } = outcome.log
      const receipt = known.get(transactionHash) ?? (await readReceipt(client, transactionHash))
      if (receipt?.blockHash !== blockHash) {
        throw new Error('The receipt belongs to another block than the log.')
      }
      const carrier = { receipt, isOurs: known.has(transactionHash) }
      return toMined(chain, operation, { outcome, carrier, ethPriceE8 })
    }),
  )
}

export type Carried = { send: OpenSend; receipt: Receipt }

/** Our transactions in the given blocks, by any of their hashes. */
async function readCarried(client: ChainClient, db: Db, blocks: Block[]): Promise<Carried[]> {
  const open = await readOpenSends(db, client.chain.chainId)
  const blockOf = new Map(
    blocks.flatMap(({ transactions, hash }) => transactions.map((tx) => [tx, hash])),
  )
  const found = open.filter(({ hash }) => blockOf.has(hash))
  return Promise.all(
    found.map(async (send) => {
      const receipt = await readReceipt(client, send.hash)
      if (!receipt || receipt.blockHash !== blockOf.get(send.hash)) {
        throw new Error('The receipt belongs to another block than the header.')
      }
      return { send, receipt }
    }),
  )
}

/** Our transactions that are mined up to a block. */
export async function readCarriedUpTo(client: ChainClient, db: Db, to: bigint): Promise<Carried[]> {
  const open = await readOpenSends(db, client.chain.chainId)
  const receipts = await Promise.all(open.map(({ hash }) => readReceipt(client, hash)))
  return open.flatMap((send, i) => {
    const receipt = receipts[i]
    return receipt && receipt.blockNumber <= to ? [{ send, receipt }] : []
  })
}
