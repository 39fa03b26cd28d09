import {
  readBlock,
  readLogs,
  readReceipt,
  type Block,
  type Log,
  type LogRange,
  type Receipt,
} from '../chains/read.js'
import { isRevert, type ChainClient } from '../chains/connect.js'
import { readEthPrice } from '../chains/prices.js'
import {
  confirmUpTo,
  finalizeUpTo,
  findChainState,
  findOperationsByKey,
  hasUnfinalOperations,
  insertChain,
  insertHeaders,
  readHeaders,
  readOpenSends,
  rollBack,
  setBooked,
  setMined,
  setTransactionMined,
  type BlockId,
  type MinedOperation,
  type OpenSend,
} from '../db/lanes/booking.js'
import { isOutcomeOf, outcomeFilter, readOutcome, toMined } from './outcomeLogs.js'
import type { Db } from '../db/connection/connect.js'
import type { PartLog } from '../log.js'

/** Blocks booked in one go, linked by their parent hashes. */
const LINKED_BLOCKS = 50n
/** Finalized blocks booked in one go after a long absence: only their logs are read. */
const FINALIZED_BLOCKS = 2_000n

export type DriverTools = {
  /** The leader's session of this chain. */
  db: Db
  client: ChainClient
  log: PartLog
  /** When each hash was last sent by this process, Unix time in ms. */
  sentAt: Map<string, number>
  /** Hash of the head that the database was last seen to have booked: nothing to ask it about then. */
  seen: { head: string }
}

/**
 * Books what the chain has added since the last call: outcomes of operations, confirmations, finality.
 * The only source of outcomes. What a block says is committed together with the block.
 *
 * @returns True when there may be more to book at once.
 */
export async function bookChain(tools: DriverTools): Promise<boolean> {
  const { db, client } = tools
  const { chain } = client
  const head = await readBlock(client, 'latest')
  if (!head || head.hash === tools.seen.head) return false
  const state = await findChainState(db, chain.chainId)
  if (!state) {
    await insertChain(db, { id: chain.chainId, name: chain.name, at: head })
    return false
  }
  const { booked } = state
  if (head.hash === booked.hash) {
    tools.seen.head = head.hash
    return false
  }
  if (head.number > booked.number + LINKED_BLOCKS) {
    const finalized = await readBlock(client, 'finalized')
    if (finalized && finalized.number > booked.number + LINKED_BLOCKS) {
      return bookFinalized(tools, booked, finalized.number)
    }
  }
  return bookLinked(tools, booked, head)
}

async function bookLinked(tools: DriverTools, booked: BlockId, head: Block): Promise<boolean> {
  const { db, client } = tools
  if (head.number <= booked.number && (await isKept(db, client, head))) return false
  const blocks = await readBlocks(client, booked.number, head)
  const first = blocks[0]
  if (first?.parentHash !== booked.hash) return reorganise(tools, booked)
  // The chain has changed between the answers, or they come from different nodes: next time again.
  if (blocks.some((block, i) => i > 0 && block.parentHash !== blocks[i - 1]?.hash)) return false
  await book(tools, booked, blocks)
  return (blocks.at(-1) ?? head).number < head.number
}

/** True when a head at or below the booked block is one of ours: the node is behind, nothing is gone. */
async function isKept(db: Db, { chain }: ChainClient, head: Block): Promise<boolean> {
  const headers = await readHeaders(db, chain.chainId)
  return headers.some(({ hash }) => hash === head.hash)
}

async function readBlocks(client: ChainClient, after: bigint, head: Block): Promise<Block[]> {
  const last = head.number < after + LINKED_BLOCKS ? head.number : after + LINKED_BLOCKS
  const numbers: bigint[] = []
  for (let number = after + 1n; number <= last; number++) numbers.push(number)
  const blocks = await Promise.all(
    numbers.map(async (blockNumber) =>
      blockNumber === head.number ? head : readBlock(client, { blockNumber }),
    ),
  )
  return blocks.filter((block) => block !== undefined)
}

/** Books linked blocks with everything they say, in one transaction. */
async function book(tools: DriverTools, booked: BlockId, blocks: Block[]): Promise<void> {
  const { db, client } = tools
  const { chain } = client
  const last = blocks.at(-1)
  if (!last) return
  const ranges = blocks.map(({ hash }) => ({ blockHash: hash }))
  const [carried, logs, finalized] = await Promise.all([
    readCarried(client, db, blocks),
    readOutcomeLogs(client, db, ranges),
    readBlock(client, 'finalized'),
  ])
  const mined = await matchOutcomes(tools, logs, carried)
  await db.transaction(async (trx) => {
    await insertHeaders(trx, chain.chainId, blocks)
    for (const operation of mined) await setMined(trx, operation)
    for (const { send, receipt } of carried) await setTransactionMined(trx, send, receipt)
    const confirmed = last.number - BigInt(chain.confirmations) + 1n
    await confirmUpTo(trx, chain.chainId, confirmed)
    if (finalized) await finalizeUpTo(trx, chain.chainId, finalized)
    await setBooked(trx, chain.chainId, { from: booked, to: last })
  })
}

/** Logs that may be outcomes of our operations. */
async function readOutcomeLogs(client: ChainClient, db: Db, ranges: LogRange[]): Promise<Log[]> {
  const { chain } = client
  // Asked after the blocks were read: what is inserted later cannot be in them.
  if (!(await hasUnfinalOperations(db, chain.chainId))) return []
  const logs = await Promise.all(
    ranges.map(async (range) => {
      const found = await readLogs(client, range, outcomeFilter(chain))
      if ('from' in range || found.every(({ blockHash }) => blockHash === range.blockHash)) {
        return found
      }
      throw new Error('The logs belong to other blocks than the headers.')
    }),
  )
  return logs.flat()
}

/** The operations whose outcomes are among the logs, or among those of our own transactions. */
export async function matchOutcomes(
  { db, client, log: report }: DriverTools,
  logs: Log[],
  carried: Carried[],
): Promise<MinedOperation[]> {
  const { chain } = client
  const outcomes = [...logs, ...carried.flatMap(({ receipt }) => receipt.logs)]
    .map((log) => readOutcome(chain, log))
    .filter((outcome) => outcome !== undefined)
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

type Carried = { send: OpenSend; receipt: Receipt }

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

/** After a long absence: only logs are read of blocks that no reorg can touch any more. */
async function bookFinalized(
  tools: DriverTools,
  booked: BlockId,
  finalized: bigint,
): Promise<boolean> {
  const { db, client } = tools
  const { chain } = client
  const farthest = booked.number + FINALIZED_BLOCKS
  const to = finalized < farthest ? finalized : farthest
  const [known, last] = await Promise.all([
    readBlock(client, { blockNumber: booked.number }),
    readBlock(client, { blockNumber: to }),
  ])
  if (!known || !last) return false
  // What was booked last may have vanished meanwhile: it must not become final unseen.
  if (known.hash !== booked.hash) return reorganise(tools, booked)
  const carried = await readCarriedUpTo(client, db, to)
  const range = { from: booked.number + 1n, to }
  const mined = await matchOutcomes(tools, await readOutcomeLogs(client, db, [range]), carried)
  await db.transaction(async (trx) => {
    await insertHeaders(trx, chain.chainId, [last])
    for (const operation of mined) await setMined(trx, operation)
    for (const { send, receipt } of carried) await setTransactionMined(trx, send, receipt)
    await confirmUpTo(trx, chain.chainId, to)
    await finalizeUpTo(trx, chain.chainId, last)
    await setBooked(trx, chain.chainId, { from: booked, to: last })
  })
  return true
}

async function readCarriedUpTo(client: ChainClient, db: Db, to: bigint): Promise<Carried[]> {
  const open = await readOpenSends(db, client.chain.chainId)
  const receipts = await Promise.all(open.map(({ hash }) => readReceipt(client, hash)))
  return open.flatMap((send, i) => {
    const receipt = receipts[i]
    return receipt && receipt.blockNumber <= to ? [{ send, receipt }] : []
  })
}

/** Finds the newest block that is still canonical and takes back what was booked above it. */
async function reorganise(tools: DriverTools, booked: BlockId): Promise<boolean> {
  const { db, client, log, sentAt } = tools
  const { chain } = client
  for (const kept of await readHeaders(db, chain.chainId)) {
    const block = await readBlock(client, { blockNumber: kept.number })
    if (block?.hash !== kept.hash) continue
    if (kept.hash === booked.hash) return false
    const vanished = await db.transaction((trx) =>
      rollBack(trx, chain.chainId, { from: booked, to: kept }),
    )
    // What has vanished is sent again at once.
    sentAt.clear()
    const depth = Number(booked.number - kept.number)
    log.warn({ chain: chain.name, depth, operations: vanished }, 'reorg: booked blocks have gone')
    return true
  }
  throw new Error('A finalized block has vanished. Booking cannot go on.')
}
