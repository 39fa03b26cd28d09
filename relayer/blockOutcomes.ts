import { didAnswer, type ChainClient } from '../evm/connect.js'
import { lendingProtocol } from '../evm/lending/markets.js'
import { readLogRange } from '../evm/logs/logRange.js'
import { readEthPrice } from '../evm/prices.js'
import { readLogs, readReceipt, type Block, type EventLog, type Receipt } from '../evm/read.js'
import { type MinedOperation } from '../operations/indexing/outcomes.js'
import {
  findOperationsByKey,
  hasOpenOperations,
  readOpenSends,
  type OpenSend,
} from '../operations/indexing/watched.js'
import { markSent } from '../operations/signing/replacing.js'
import { isOutcomeOf, outcomeFilter, readOutcome } from '../evm/logs/outcomes.js'
import { toMined } from './outcomeLogs.js'
import type { Market } from '../evm/registry.js'
import type { Db } from '../db/client/connect.js'
import type { DriverTools } from './relayerTools.js'
import type { IndexingTools } from './reorgs.js'

/** The contents of blocks that may belong to our operations: logs, and our own transactions. */
export type BlockContents = { logs: EventLog[]; ours: OwnTransaction[] }

/** Reads linked blocks from `through`, the endpoint they come from. Reads logs only while an operation is open. */
export async function readBlockContents(
  { db, through }: IndexingTools,
  blocks: Block[],
): Promise<BlockContents> {
  const { chainId } = through.chain
  const [open, isOpen] = await Promise.all([
    readOpenSends(db, chainId),
    hasOpenOperations(db, chainId),
  ])
  const asked = isOpen ? blocks : []
  const [ours, logs] = await Promise.all([
    readOwn(through, open, blocks),
    Promise.all(asked.map(({ hash }) => readLogsAt(through, hash))),
  ])
  return { logs: logs.flat(), ours }
}

async function readLogsAt(client: ChainClient, blockHash: string): Promise<EventLog[]> {
  const logs = await readLogs(client, { blockHash }, outcomeFilter(client.chain))
  if (logs.every((log) => log.blockHash === blockHash)) return logs
  throw new Error('The logs belong to other blocks than the headers.')
}

/** Logs of a range of finalized blocks that may be outcomes of our operations. */
export async function readFinalizedLogs(
  db: Db,
  through: ChainClient,
  range: { from: bigint; to: bigint },
): Promise<EventLog[]> {
  const { chain } = through
  if (!(await hasOpenOperations(db, chain.chainId))) return []
  return readLogRange(through, range, outcomeFilter(chain))
}

type MatchingTools = Pick<DriverTools, 'db' | 'client' | 'log'>

/**
 * The outcomes in the logs, or in the receipts of our own transactions, of operations that can have been executed. A log
 * of another operation counts once the signer has read its key as used.
 */
export async function matchExposed(
  tools: MatchingTools,
  logs: EventLog[],
  ours: OwnTransaction[],
): Promise<MinedOperation[]> {
  const hashes = ours.map(({ send }) => send.hash)
  if (hashes.length > 0) await markSent(tools.db, hashes)
  return matchOutcomes(tools, logs, { ours, isEligible: ({ isExposed }) => isExposed })
}

/** The operations whose outcomes are in the logs or in the receipts of our own transactions. Only for the audit. */
export async function matchOutcomes(
  { db, client, log: report }: MatchingTools,
  logs: EventLog[],
  { ours, isEligible }: Eligible,
): Promise<MinedOperation[]> {
  const { chain } = client
  const all = [...logs, ...ours.flatMap(({ receipt }) => receipt.logs)]
  const outcomes = all.flatMap((one) => readOutcome(chain, one) ?? [])
  if (outcomes.length === 0) return []
  const keys = [...new Set(outcomes.map(({ key }) => key))]
  const operations = (await findOperationsByKey(db, chain.chainId, keys)).filter(isEligible)
  const matched = operations.flatMap((operation) => {
    const outcome = outcomes.find((candidate) => isOutcomeOf(candidate, operation))
    return outcome && operation.blockHash !== outcome.log.blockHash ? [{ operation, outcome }] : []
  })
  if (matched.length === 0) return []
  const ethPriceE8 = await readEthPrice(client)
  if (ethPriceE8 === undefined) {
    report.warn({ chain: chain.name }, 'ETH price unknown, cost of gas not recorded')
  }
  const known = new Map(ours.map(({ receipt }) => [receipt.transactionHash, receipt]))
  return Promise.all(
    matched.map(async ({ operation, outcome }) => {
      const { transactionHash, blockHash } = outcome.log
      const receipt = known.get(transactionHash) ?? (await readReceipt(client, transactionHash))
      if (receipt?.blockHash !== blockHash) {
        throw new Error('The receipt belongs to another block than the log.')
      }
      const bundleTransaction = { receipt, isOurs: known.has(transactionHash) }
      const { market, ...mined } = toMined(chain, operation, {
        ...{ outcome, bundleTransaction, ethPriceE8 },
      })
      return { ...mined, sharePrice: market && (await findSharePrice(client, market, blockHash)) }
    }),
  )
}

/** Undefined when the node no longer has the state of the block. The price only serves the earnings of a position. */
async function findSharePrice(
  client: ChainClient,
  market: Market,
  blockHash: string,
): Promise<bigint | undefined> {
  const read = lendingProtocol(market).readSharePrice(client, market, { blockHash })
  return read.catch((error: unknown) => {
    if (didAnswer(error)) return undefined
    throw error
  })
}

type Eligible = {
  ours: OwnTransaction[]
  isEligible: (operation: { isExposed: boolean }) => boolean
}

/** One of our transactions in a block, with the send that was mined. */
export type OwnTransaction = { send: OpenSend; receipt: Receipt }

/** Our transactions in the given blocks, by any of their hashes. */
function readOwn(
  client: ChainClient,
  open: OpenSend[],
  blocks: Block[],
): Promise<OwnTransaction[]> {
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

/** Our transactions mined at or below a block. */
export async function readMinedUpTo(
  client: ChainClient,
  db: Db,
  to: bigint,
): Promise<OwnTransaction[]> {
  const open = await readOpenSends(db, client.chain.chainId)
  const receipts = await Promise.all(open.map(({ hash }) => readReceipt(client, hash)))
  return open.flatMap((send, i) => {
    const receipt = receipts[i]
    return receipt && receipt.blockNumber <= to ? [{ send, receipt }] : []
  })
}
