import { readBlock } from '../chains/read.js'
import { readHeaders, type BlockId } from '../db/lanes/booking.js'
import { rollBack } from '../db/lanes/rollBack.js'
import { LINKED_BLOCKS, type DriverTools } from './driverTools.js'
import type { ChainClient } from '../chains/connect.js'

/** `through`: the one endpoint that everything of a round is read from. */
export type BookingTools = DriverTools & { through: ChainClient }

/** Callers were told another end. Whoever runs the service may have to explain it. */
export function tellReopened({ through, log }: BookingTools, intents: string[]): void {
  if (intents.length === 0) return
  log.error({ chain: through.chain.name, intents }, 'the end that was told does not hold any more')
}

/**
 * Finds the newest block that is still canonical and takes back what was booked above it. As long as another endpoint
 * in step has the booked block, that one is followed instead.
 *
 * @throws when a finalized block has vanished: nothing is booked until an operator has looked.
 */
export async function reorganise(tools: BookingTools, booked: BlockId): Promise<boolean> {
  const { db, through, following, log, seen, sentAt } = tools
  const { chainId, name } = through.chain
  const agreeing = await findAgreeing(tools, booked)
  if (agreeing) {
    following.endpoint = agreeing
    return false
  }
  const headers = await readHeaders(db, chainId)
  const to = await findCanonical(through, headers)
  if (to?.hash === booked.hash) return false
  if (!to) {
    log.error({ chain: name }, 'a finalized block has vanished: nothing is booked')
    throw new Error('A finalized block has vanished. Booking cannot go on.')
  }
  const { operations, reopened } = await db.transaction((trx) =>
    rollBack(trx, chainId, { from: booked, to }),
  )
  seen.head = ''
  // What has vanished is sent again at once.
  sentAt.clear()
  const facts = { chain: name, depth: Number(booked.number - to.number) }
  log.warn({ ...facts, operations: operations.length }, 'reorg: booked blocks have gone')
  tellReopened(tools, reopened)
  return true
}

/** Another endpoint, in step with the rest, that has the booked block. */
async function findAgreeing(
  { client, through }: BookingTools,
  { number: blockNumber, hash }: BlockId,
): Promise<ChainClient | undefined> {
  for (const endpoint of client.inStep()) {
    if (endpoint === through) continue
    const block = await readBlock(endpoint, { blockNumber }).catch(() => undefined)
    if (block?.hash === hash) return endpoint
  }
  return undefined
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
