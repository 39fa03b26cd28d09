import { crashPoint } from '../crashPoints.js'
import { findFinalized, readSettled, type Finality } from '../chains/finality.js'
import { readBlock, type Block } from '../chains/read.js'
import {
  confirmUpTo,
  finalizeUpTo,
  findChainState,
  hasOperations,
  insertChain,
  insertHeaders,
  readHeaders,
  setBooked,
  setMined,
  setTransactionsMined,
  type BlockId,
  type MinedOperation,
} from '../db/lanes/booking.js'
import { bookEmpty, bookUnlessConcerned } from '../db/lanes/emptyBlocks.js'
import { holdEnded, reconsiderIntents } from '../db/lanes/turned.js'
import {
  matchOutcomes,
  readCarriedUpTo,
  readFinalizedLogs,
  readSaid,
  type Carried,
} from './blockOutcomes.js'
import { followEndpoint, leaveEndpoint, noteHead } from './endpoint.js'
import { reorganise, tellReopened, type BookingTools } from './reorganise.js'
import { LINKED_BLOCKS, type DriverTools } from './driverTools.js'

/** The smallest round: after failures fewer questions are asked at once, so that one gets through. */
const LEAST_BLOCKS = 4
/** Finalized blocks booked in one go after a long absence: only their logs are read. */
const FINALIZED_BLOCKS = 2_000n

/**
 * Books what the chain has added since the last call: outcomes of operations, confirmations, finality.
 * The only source of outcomes. What a block says is committed together with the block.
 *
 * @returns True when there may be more to book at once.
 */
export async function bookChain(tools: DriverTools): Promise<boolean> {
  try {
    const through = await followEndpoint(tools)
    return through !== undefined && (await bookThrough({ ...tools, through }))
  } catch (error) {
    leaveEndpoint(tools)
    tools.seen.roundBlocks = Math.max(LEAST_BLOCKS, Math.floor(tools.seen.roundBlocks / 2))
    throw error
  }
}

async function bookThrough(tools: BookingTools): Promise<boolean> {
  const { through, seen } = tools
  const head = await readBlock(through, 'latest')
  noteHead(tools, head)
  if (!head || head.hash === seen.head) return false
  const known = seen.booked
  const booked = known ?? (await findBooked(tools, head))
  if (head.hash === booked.hash) {
    seen.head = head.hash
    return false
  }
  // What fails, or takes blocks back, has it read anew.
  seen.booked = undefined
  try {
    return await bookOn(tools, booked, head)
  } catch (error) {
    // Another process may have booked since, or the database come from a backup: then it goes on from there.
    if (known && (await findBooked(tools, head)).hash !== known.hash) return true
    throw error
  }
}

async function bookOn(tools: BookingTools, booked: BlockId, head: Block): Promise<boolean> {
  const near = booked.number + BigInt(LINKED_BLOCKS)
  if (head.number > near) {
    const { block: finalized } = await findFinality(tools, head)
    if (finalized && finalized.number > near) {
      return bookFinalized(tools, booked, finalized.number)
    }
  }
  return bookLinked(tools, booked, head)
}

async function findBooked(tools: BookingTools, head: Block): Promise<BlockId> {
  const state = await findChainState(tools.db, tools.through.chain.chainId)
  return state?.booked ?? startBooking(tools, head)
}

/**
 * Starts at the finalized block: an orphan has no successor. Where nothing was ever ordered nothing of
 * ours can be in a block up to this head, so that booking goes on close to it; should that block vanish,
 * the finalized one is what booking goes back to.
 */
async function startBooking({ db, through }: BookingTools, head: Block): Promise<BlockId> {
  const { chainId, name } = through.chain
  const told = await findFinalized(through, head)
  const finalized = told.block ?? (await readSettled(through, head))
  // Asked after the head was read: what is ordered later is mined above it.
  const isNew = !(await hasOperations(db, chainId))
  const near = head.number - BigInt(LINKED_BLOCKS)
  const isFar = finalized !== undefined && finalized.number < near
  const start = isNew && isFar ? await readBlock(through, { blockNumber: near }) : finalized
  if (!start || !finalized) throw new Error('The block to start booking at is not there.')
  await insertChain(db, { id: chainId, name, at: start, finalized })
  return start
}

async function findFinality({ through, seen, log }: BookingTools, head: Block): Promise<Finality> {
  const finality = await findFinalized(through, head)
  if (finality.isAssumed && !seen.isFinalityAssumed) {
    seen.isFinalityAssumed = true
    const { name, finalityBlocks } = through.chain
    log.warn({ chain: name, finalityBlocks }, 'the node does not tell what is final: depth decides')
  }
  return finality
}

/** Undefined also where it was asked a moment ago: what is final moves on at a pace of its own, and nobody waits for it. */
async function findFinalizedNowAndThen(
  tools: BookingTools,
  head: Block,
): Promise<Block | undefined> {
  const { seen, finalityMs } = tools
  const now = performance.now()
  if (now - seen.finalityAt < finalityMs) return undefined
  const { block } = await findFinality(tools, head)
  seen.finalityAt = now
  return block
}

async function bookLinked(tools: BookingTools, booked: BlockId, head: Block): Promise<boolean> {
  if (head.number <= booked.number && (await isKept(tools, head))) return false
  const blocks = await readBlocks(tools, booked.number, head)
  const first = blocks[0]
  if (first?.parentHash !== booked.hash) return reorganise(tools, booked)
  // The chain has changed between the answers, or they come from different nodes: next time again.
  if (blocks.some((block, i) => i > 0 && block.parentHash !== blocks[i - 1]?.hash)) return false
  const isBooked = await book(tools, { booked, blocks, head })
  return isBooked && (blocks.at(-1) ?? head).number < head.number
}

/** True when a head at or below the booked block is one of ours: the node is behind, nothing is gone. */
async function isKept({ db, client }: DriverTools, head: Block): Promise<boolean> {
  const headers = await readHeaders(db, client.chain.chainId)
  return headers.some(({ hash }) => hash === head.hash)
}

async function readBlocks(
  { through, seen }: BookingTools,
  after: bigint,
  head: Block,
): Promise<Block[]> {
  const farthest = after + BigInt(seen.roundBlocks)
  const last = head.number < farthest ? head.number : farthest
  const numbers: bigint[] = []
  for (let number = after + 1n; number <= last; number++) numbers.push(number)
  const blocks = await Promise.all(
    numbers.map(async (blockNumber) =>
      blockNumber === head.number ? head : readBlock(through, { blockNumber }),
    ),
  )
  return blocks.filter((block) => block !== undefined)
}

/** Blocks that follow each other on the booked one, and the head that they lead to. */
type Linked = { booked: BlockId; blocks: Block[]; head: Block }

/**
 * Books linked blocks with everything they say: in one transaction, or where they concern no row in one statement.
 * False when they are to be read again.
 */
async function book(tools: BookingTools, linked: Linked): Promise<boolean> {
  const { db, through, seen } = tools
  const { booked: from, blocks, head } = linked
  const { chainId, confirmations } = through.chain
  const last = blocks.at(-1)
  if (!last) return false
  const confirmed = last.number - BigInt(confirmations) + 1n
  const finalized = await findFinalizedNowAndThen(tools, head)
  // Asked after the blocks were read: what is inserted later cannot be in them.
  const following = { from, blocks, finalized }
  const concern = await bookUnlessConcerned(db, chainId, { ...following, confirmed })
  if (concern) {
    const said = await readSaid(tools, { through, blocks }, concern)
    if (!said) return false
    const { logs, carried } = said
    const mined = await matchOutcomes({ ...tools, client: through }, logs, carried)
    const isEmpty = mined.length === 0 && carried.length === 0 && !concern.isDue
    if (isEmpty) await bookEmpty(db, chainId, following)
    else
      await bookFull(tools, linked, { mined, carried, isDue: concern.isDue, confirmed, finalized })
  }
  seen.booked = last
  seen.roundBlocks = Math.min(LINKED_BLOCKS, 2 * seen.roundBlocks)
  return true
}

/**
 * What blocks say of our rows, and the last ones that are confirmed and final with them. `isDue`: something that was
 * booked before is.
 */
type Said = {
  mined: MinedOperation[]
  carried: Carried[]
  isDue: boolean
  confirmed: bigint
  finalized: Block | undefined
}

async function bookFull(
  tools: BookingTools,
  { booked: from, blocks }: Linked,
  { mined, carried, isDue, confirmed, finalized }: Said,
): Promise<void> {
  const { chainId } = tools.through.chain
  const to = blocks.at(-1) ?? from
  const times = new Map(blocks.map(({ hash, minedAt }) => [hash, minedAt]))
  const reopened = await tools.db.transaction(async (trx) => {
    const told = await holdEnded(trx, chainId, { mined, confirmed })
    await insertHeaders(trx, chainId, blocks)
    if (isDue) await confirmUpTo(trx, chainId, { block: confirmed, except: idsOf(mined) })
    await setMined(
      trx,
      mined.map((one) => ({ ...one, minedAt: one.minedAt ?? times.get(one.block.hash) })),
      confirmed,
    )
    await setTransactionsMined(trx, carried)
    if (finalized) await finalizeUpTo(trx, chainId, finalized)
    await setBooked(trx, chainId, { from, to })
    if (mined.length > 0) crashPoint('driver: before the booking is committed')
    return reconsiderIntents(trx, told)
  })
  for (const { send } of carried) tools.carried.add(send.hash)
  tellReopened(tools, reopened)
}

const idsOf = (mined: MinedOperation[]) => mined.map(({ id }) => id)

/** After a long absence: only logs are read of blocks that no reorg can touch any more. */
async function bookFinalized(
  tools: BookingTools,
  booked: BlockId,
  finalized: bigint,
): Promise<boolean> {
  const { db, through, log } = tools
  const { chainId } = through.chain
  const farthest = booked.number + FINALIZED_BLOCKS
  const to = finalized < farthest ? finalized : farthest
  const [known, last] = await Promise.all([
    readBlock(through, { blockNumber: booked.number }),
    readBlock(through, { blockNumber: to }),
  ])
  if (!known || !last) return false
  // What was booked last may have vanished meanwhile: it must not become final unseen.
  if (known.hash !== booked.hash) return reorganise(tools, booked)
  const carried = await readCarriedUpTo(through, db, to)
  const logs = await readFinalizedLogs(db, through, { from: booked.number + 1n, to })
  const mined = await matchOutcomes({ db, client: through, log }, logs, carried)
  const reopened = await db.transaction(async (trx) => {
    const told = await holdEnded(trx, chainId, { mined, confirmed: to })
    await insertHeaders(trx, chainId, [last])
    await confirmUpTo(trx, chainId, { block: to, except: idsOf(mined) })
    await setMined(trx, mined, to)
    await setTransactionsMined(trx, carried)
    await finalizeUpTo(trx, chainId, last)
    await setBooked(trx, chainId, { from: booked, to: last })
    return reconsiderIntents(trx, told)
  })
  tellReopened(tools, reopened)
  return true
}
