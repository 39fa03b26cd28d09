import { readBlock, readLogs, readReceipt, type Block } from '../chains/read.js'
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
  type ChainState,
  type MinedOperation,
  type OpenSend,
} from '../db/booking.js'
import {
  isOutcomeOf,
  outcomeEmitters,
  outcomeTopics,
  readOutcome,
  toMined,
  type OutcomeLog,
} from './outcome.js'
import type { ChainClient } from '../chains/connect.js'
import type { Db } from '../db/connect.js'

/** Blocks booked in one go, linked by their parent hashes. */
const LINKED_BLOCKS = 50n
/** Finalized blocks booked in one go after a long absence: only their logs are read. */
const FINALIZED_BLOCKS = 2_000n

export type WatchTools = { db: Db; client: ChainClient; log: WatchLog }
type Report = (facts: object, message: string) => void
export type WatchLog = { info: Report; warn: Report; error: Report }

/**
 * Books what the chain has added since the last call: outcomes of operations, confirmations, finality.
 * The only source of outcomes. What a block says is committed together with the block.
 *
 * @param db - The leader's session of this chain.
 * @returns True when there may be more to book at once.
 */
export async function bookChain(tools: WatchTools): Promise<boolean> {
  const { db, client } = tools
  const { chain } = client
  const head = await readBlock(client, 'latest')
  if (!head) return false
  const state = await findChainState(db, chain.chainId)
  if (!state) {
    await insertChain(db, { id: chain.chainId, name: chain.name, at: head })
    return false
  }
  if (head.hash === state.booked.hash) return false
  const finalized = (await readBlock(client, 'finalized'))?.number ?? 0n
  if (finalized > state.booked.number + LINKED_BLOCKS) {
    return bookFinalized(tools, state, finalized)
  }
  return bookLinked(tools, state, head, finalized)
}

async function bookLinked(
  tools: WatchTools,
  { booked }: ChainState,
  head: Block,
  finalized: bigint,
): Promise<boolean> {
  const { db, client } = tools
  if (head.number <= booked.number && (await isKept(db, client, head))) return false
  const blocks = await readBlocks(client, booked.number, head)
  const first = blocks[0]
  if (first?.parentHash !== booked.hash) return reorganise(tools, booked)
  if (blocks.some((block, i) => i > 0 && block.parentHash !== blocks[i - 1]?.hash)) return true
  const last = blocks.at(-1) ?? head
  await book(tools, booked, blocks, finalized < last.number ? finalized : last.number)
  return last.number < head.number
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
async function book(
  { db, client }: WatchTools,
  booked: BlockId,
  blocks: Block[],
  finalized: bigint,
): Promise<void> {
  const { chain } = client
  const last = blocks.at(-1)
  if (!last) return
  const mined = await readMined(client, db, {
    from: booked.number + 1n,
    to: last.number,
    hashes: new Set(blocks.map(({ hash }) => hash)),
  })
  const carried = await readCarried(client, db, blocks)
  await db.transaction(async (trx) => {
    await insertHeaders(trx, chain.chainId, blocks)
    for (const operation of mined) await setMined(trx, operation)
    for (const { send, ...at } of carried) await setTransactionMined(trx, send, at)
    const confirmed = last.number - BigInt(chain.confirmations) + 1n
    await confirmUpTo(trx, chain.chainId, confirmed)
    await finalizeUpTo(trx, chain.chainId, finalized)
    await setBooked(trx, chain.chainId, booked, last)
  })
}

type Range = { from: bigint; to: bigint; hashes?: Set<string> }

/** The operations whose logs stand in a range of blocks. */
async function readMined(client: ChainClient, db: Db, range: Range): Promise<MinedOperation[]> {
  const { chain } = client
  // Asked after the blocks were read: what is inserted later cannot be in them.
  if (!(await hasUnfinalOperations(db, chain.chainId))) return []
  const logs = await readLogs(client, range, outcomeEmitters(chain), outcomeTopics)
  const strange = logs.find(({ blockHash }) => range.hashes && !range.hashes.has(blockHash))
  if (strange) throw new Error('The logs belong to other blocks than the headers.')
  const outcomes = logs
    .map((log) => readOutcome(chain, log))
    .filter((outcome) => outcome !== undefined)
  return matchOutcomes(client, db, outcomes)
}

async function matchOutcomes(
  client: ChainClient,
  db: Db,
  outcomes: OutcomeLog[],
): Promise<MinedOperation[]> {
  if (outcomes.length === 0) return []
  const { chain } = client
  const keys = outcomes.map(({ key }) => key)
  const operations = await findOperationsByKey(db, chain.chainId, keys)
  const matched = operations.flatMap((operation) => {
    const outcome = outcomes.find((candidate) => isOutcomeOf(candidate, operation))
    return outcome && operation.blockHash !== outcome.log.blockHash ? [{ operation, outcome }] : []
  })
  if (matched.length === 0) return []
  const ethPrice = await readEthPrice(client)
  return Promise.all(
    matched.map(async ({ operation, outcome }) => {
      const receipt = await readReceipt(client, outcome.log.transactionHash)
      if (receipt?.blockHash !== outcome.log.blockHash) {
        throw new Error('The receipt belongs to another block than the log.')
      }
      return toMined(chain, operation, outcome, receipt, ethPrice)
    }),
  )
}

type Carried = { send: OpenSend; block: BlockId; success: boolean }

/** Our transactions in the given blocks, by any of their hashes. */
async function readCarried(client: ChainClient, db: Db, blocks: Block[]): Promise<Carried[]> {
  const open = await readOpenSends(db, client.chain.chainId)
  if (open.length === 0) return []
  const blockOf = new Map(blocks.flatMap((block) => block.transactions.map((tx) => [tx, block])))
  const found = open.filter(({ hash }) => blockOf.has(hash))
  return Promise.all(
    found.map(async (send) => {
      const block = blockOf.get(send.hash)
      const receipt = await readReceipt(client, send.hash)
      if (!block || receipt?.blockHash !== block.hash) {
        throw new Error('The receipt belongs to another block than the header.')
      }
      return { send, block, success: receipt.success }
    }),
  )
}

/** After a long absence: only logs are read of blocks that no reorg can touch any more. */
async function bookFinalized(
  { db, client }: WatchTools,
  { booked }: ChainState,
  finalized: bigint,
): Promise<boolean> {
  const { chain } = client
  const farthest = booked.number + FINALIZED_BLOCKS
  const to = finalized < farthest ? finalized : farthest
  const last = await readBlock(client, { blockNumber: to })
  if (!last) return false
  const mined = await readMined(client, db, { from: booked.number + 1n, to })
  const carried = await readCarriedByReceipt(client, db, to)
  await db.transaction(async (trx) => {
    await insertHeaders(trx, chain.chainId, [last])
    for (const operation of mined) await setMined(trx, operation)
    for (const { send, ...at } of carried) await setTransactionMined(trx, send, at)
    await confirmUpTo(trx, chain.chainId, to)
    await finalizeUpTo(trx, chain.chainId, to)
    await setBooked(trx, chain.chainId, booked, last)
  })
  return true
}

async function readCarriedByReceipt(client: ChainClient, db: Db, to: bigint): Promise<Carried[]> {
  const open = await readOpenSends(db, client.chain.chainId)
  const receipts = await Promise.all(open.map(({ hash }) => readReceipt(client, hash)))
  return open.flatMap((send, i) => {
    const receipt = receipts[i]
    if (!receipt || receipt.blockNumber > to) return []
    const block = { number: receipt.blockNumber, hash: receipt.blockHash }
    return [{ send, block, success: receipt.success }]
  })
}

/** Finds the newest block that is still canonical and takes back what was booked above it. */
async function reorganise({ db, client, log }: WatchTools, booked: BlockId): Promise<boolean> {
  const { chain } = client
  for (const kept of await readHeaders(db, chain.chainId)) {
    const block = await readBlock(client, { blockNumber: kept.number })
    if (block?.hash !== kept.hash) continue
    if (kept.hash === booked.hash) return true
    const vanished = await db.transaction((trx) => rollBack(trx, chain.chainId, booked, kept))
    const depth = Number(booked.number - kept.number)
    log.warn({ chain: chain.name, depth, operations: vanished }, 'reorg: booked blocks have gone')
    return true
  }
  log.error({ chain: chain.name }, 'a finalized block has vanished, booking stops')
  return false
}
