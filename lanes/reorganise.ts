import { readBlock } from '../chains/read.js'
import {
  findChainState,
  hasFinalOperations,
  readHeaders,
  restartAt,
  rollBack,
  type BlockId,
} from '../db/lanes/booking.js'
import { forgetSends, LINKED_BLOCKS, type DriverTools } from './driverTools.js'
import { compareEndpoints } from './endpoint.js'
import type { ChainClient } from '../chains/connect.js'

/** `through`: the one endpoint that everything of a round is read from. */
export type BookingTools = DriverTools & { through: ChainClient }

/** Callers were told another end. Whoever runs the service may have to explain it. */
export function tellReopened({ through, log }: BookingTools, intents: string[]): void {
  if (intents.length === 0) return
  log.error({ chain: through.chain.name, intents }, 'the end that was told does not hold any more')
}

/** Finds the newest block that is still canonical and takes back what was booked above it. */
export async function reorganise(tools: BookingTools, booked: BlockId): Promise<boolean> {
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
