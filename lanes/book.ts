import { crashPoint } from '../crashPoints.js'
import { findFinalized, readSettled, type Finality } from '../chains/finality.js'
import { readBlock, type Block } from '../chains/read.js'
import {
  confirmUpTo,
  finalizeUpTo,
  findChainState,
  hasFinalOperations,
  hasOperations,
  insertChain,
  insertHeaders,
  readHeaders,
  restartAt,
  rollBack,
  setBooked,
  setMined,
  setTransactionsMined,
  type BlockId,
} from '../db/lanes/booking.js'
import { holdEnded, reconsiderIntents } from '../db/lanes/turned.js'
import {
  matchOutcomes,
  readCarried,
  readCarriedUpTo,
  readFinalizedLogs,
  readOutcomeLogs,
} from './blockOutcomes.js'
import { compareEndpoints, followEndpoint, leaveEndpoint, noteHead } from './endpoint.js'
import type { ChainClient } from '../chains/connect.js'
import { forgetSends, LINKED_BLOCKS, type DriverTools } from './driverTools.js'

/** The smallest round: after failures fewer questions are asked at once, so that one gets through. */
const LEAST_BLOCKS = 4
/** Finalized blocks booked in one go after a long absence: only their logs are read. */
const FINALIZED_BLOCKS = 2_000n

/** `through`: the one endpoint that everything of a round is read from. */
type BookingTools = DriverTools & { through: ChainClient }

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
  const { db, through, seen } = tools
  const head = await readBlock(through, 'latest')
  noteHead(tools, head)
  if (!head || head.hash === seen.head) return false
  const state = await findChainState(db, through.chain.chainId)
  const booked = state?.booked ?? (await startBooking(tools, head))
  if (head.hash === booked.hash) {
    seen.head = head.hash
    return false
  }
  const near = booked.number + BigInt(LINKED_BLOCKS)
  if (head.number > near) {
    const { block: finalized } = await findFinality(tools, head)
    if (finalized && finalized.number > near) {
      return bookFinalized(tools, booked, finalized.number)
    }
  }
  return bookLinked(tools, booked, head)
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

/** Books linked blocks with everything they say, in one transaction. False when they are to be read again. */
async function book(tools: BookingTools, { booked, blocks, head }: Linked): Promise<boolean> {
  const { db, through, log } = tools
  const { chain } = through
  const last = blocks.at(-1)
  if (!last) return false
  const [carried, logs, { block: finalized }] = await Promise.all([
    readCarried(through, db, blocks),
    readOutcomeLogs(tools, through, blocks),
    findFinality(tools, head),
  ])
  if (!logs) return false
  const mined = await matchOutcomes({ db, client: through, log }, logs, carried)
  const confirmed = last.number - BigInt(chain.confirmations) + 1n
  const times = new Map(blocks.map(({ hash, minedAt }) => [hash, minedAt]))
  const reopened = await db.transaction(async (trx) => {
    const told = await holdEnded(trx, chain.chainId, { mined, confirmed })
    await insertHeaders(trx, chain.chainId, blocks)
    await setMined(
      trx,
      mined.map((one) => ({ ...one, minedAt: one.minedAt ?? times.get(one.block.hash) })),
    )
    await setTransactionsMined(trx, carried)
    await confirmUpTo(trx, chain.chainId, confirmed)
    if (finalized) await finalizeUpTo(trx, chain.chainId, finalized)
    await setBooked(trx, chain.chainId, { from: booked, to: last })
    if (mined.length > 0) crashPoint('driver: before the booking is committed')
    return reconsiderIntents(trx, told)
  })
  for (const { send } of carried) tools.carried.add(send.hash)
  tellReopened(tools, reopened)
  tools.seen.roundBlocks = Math.min(LINKED_BLOCKS, 2 * tools.seen.roundBlocks)
  return true
}

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
    await setMined(trx, mined)
    await setTransactionsMined(trx, carried)
    await confirmUpTo(trx, chainId, to)
    await finalizeUpTo(trx, chainId, last)
    await setBooked(trx, chainId, { from: booked, to: last })
    return reconsiderIntents(trx, told)
  })
  tellReopened(tools, reopened)
  return true
}

/** Callers were told another end. Whoever runs the service may have to explain it. */
function tellReopened({ through, log }: BookingTools, intents: string[]): void {
  if (intents.length === 0) return
  log.error({ chain: through.chain.name, intents }, 'the end that was told does not hold any more')
}

/** Finds the newest block that is still canonical and takes back what was booked above it. */
async function reorganise(tools: BookingTools, booked: BlockId): Promise<boolean> {
  const { db, client, log } = tools
  const { chain } = client
  const through = await compareEndpoints(tools, booked)
  if (!through) return false
  const headers = await readHeaders(db, chain.chainId)
  const to = await findCanonical(through, headers)
  if (to?.hash === booked.hash) return false
  if (!to) return startAfresh({ ...tools, through }, booked, headers)
  const { operations, reopened } = await db.transaction((trx) =>
    rollBack(trx, chain.chainId, { from: booked, to }),
  )
  // What has vanished is sent again at once.
  forgetSends(tools)
  const facts = { chain: chain.name, depth: Number(booked.number - to.number) }
  log.warn({ ...facts, operations: operations.length }, 'reorg: booked blocks have gone')
  tellReopened({ ...tools, through }, reopened)
  return true
}

/** The newest of our blocks, which come newest first, that the endpoint has in its chain. */
async function findCanonical(
  through: ChainClient,
  headers: BlockId[],
): Promise<BlockId | undefined> {
  for (let i = 0; i < headers.length; i += LINKED_BLOCKS) {
    const part = headers.slice(i, i + LINKED_BLOCKS)
    const blocks = await Promise.all(
      part.map(({ number }) => readBlock(through, { blockNumber: number })),
    )
    const found = part.find(({ hash }, at) => blocks[at]?.hash === hash)
    if (found) return found
  }
  return undefined
}

/**
 * Booking may have started at a block that was an orphan, so that none of ours is canonical. As long as
 * nothing was ever final, all of it can be taken back: it starts again where nothing of ours can be yet,
 * as far below its first start as reorgs reach.
 */
async function startAfresh(
  tools: BookingTools,
  booked: BlockId,
  headers: BlockId[],
): Promise<boolean> {
  const { db, through, log } = tools
  const { chainId, name, finalityBlocks } = through.chain
  const state = await findChainState(db, chainId)
  const first = headers.at(-1)
  const isLost = !first || first.number === 0n || state?.finalizedBlock !== 0n
  if (isLost || (await hasFinalOperations(db, chainId))) {
    throw new Error('A finalized block has vanished. Booking cannot go on.')
  }
  const depth = BigInt(finalityBlocks)
  const blockNumber = first.number > depth ? first.number - depth : 0n
  const to = await readBlock(through, { blockNumber })
  if (!to) return false
  const { operations, reopened } = await db.transaction((trx) =>
    restartAt(trx, chainId, { from: booked, to }),
  )
  forgetSends(tools)
  log.warn(
    { chain: name, at: Number(to.number), operations: operations.length },
    'the first booked block has gone: booking starts anew',
  )
  tellReopened(tools, reopened)
  return true
}
