import { readLogRange } from '../chains/logRange.js'
import { readBlock, readReceipt, type Log, type Receipt } from '../chains/read.js'
import type { ChainClient } from '../chains/connect.js'
import {
  findChainState,
  readHeaders,
  setMined,
  setTransactionMined,
  type ChainState,
  type OpenSend,
} from '../db/lanes/booking.js'
import { findForeignMints, type ForeignMint } from '../db/lanes/burns.js'
import { allBridges } from '../protocols/bridges/bridges.js'
import { matchOutcomes } from './blockOutcomes.js'
import { followedEndpoint } from './endpoint.js'
import type { Db } from '../db/connection/connect.js'
import type { DriverTools } from './driverTools.js'

/** Blocks searched in one go: a search ends where it finds something. */
const SEARCHED_BLOCKS = 2_000n

/**
 * Books one of our transactions that is mined in a block which was booked without it: a node that was
 * restored from an older state may have mined it where this database had looked already.
 *
 * @returns True when the transaction is mined, so that there is no use in sending it again.
 */
export async function bookMissed(tools: DriverTools, send: OpenSend): Promise<boolean> {
  const { db, log } = tools
  const through = followedEndpoint(tools)
  const { chain } = through
  // Sent once more than needed it does no harm.
  const receipt = await readReceipt(through, send.hash).catch(() => undefined)
  if (!receipt) return false
  const state = await findChainState(db, chain.chainId)
  if (!state || receipt.blockNumber > state.booked.number) return true
  if (!(await isOwnBlock(tools, receipt, state))) return false
  const mined = await matchOutcomes({ ...tools, client: through }, [], [{ send, receipt }])
  const isBooked = await writeIfStillOwn(tools, receipt, async (trx) => {
    for (const operation of mined) await setMined(trx, operation)
    await setTransactionMined(trx, send, receipt)
  })
  if (!isBooked) return false
  log.warn({ chain: chain.name, hash: send.hash }, 'mined in a block that was booked without it')
  return true
}

/**
 * Books mints that somebody else has done before we knew the message: their blocks were booked while
 * there was no row of them.
 */
export async function bookForeignMints(tools: DriverTools): Promise<void> {
  const { db, client } = tools
  const mints = await findForeignMints(db, client.chain.chainId)
  for (const mint of mints) await bookForeignMint(tools, mint)
}

async function bookForeignMint(tools: DriverTools, mint: ForeignMint): Promise<void> {
  const { db, log } = tools
  const through = followedEndpoint(tools)
  const { chain } = through
  const state = await findChainState(db, chain.chainId)
  const received = state && (await findReceived(through, mint, state.booked.number))
  const receipt = received && (await readReceipt(through, received.transactionHash))
  if (!receipt || !(await isOwnBlock(tools, receipt, state))) return
  const mined = await matchOutcomes({ ...tools, client: through }, [received], [])
  const isBooked = await writeIfStillOwn(tools, receipt, async (trx) => {
    for (const operation of mined) await setMined(trx, operation)
  })
  if (!isBooked) return
  log.info({ chain: chain.name, hash: receipt.transactionHash }, 'minted by somebody else')
}

async function findReceived(
  through: ChainClient,
  { nonce, fromBlock }: ForeignMint,
  last: bigint,
): Promise<Log | undefined> {
  const filters = allBridges.map((bridge) => bridge.mintLogs(through.chain, nonce))
  for (let from = fromBlock; from <= last; from += SEARCHED_BLOCKS) {
    const to = from + SEARCHED_BLOCKS - 1n < last ? from + SEARCHED_BLOCKS - 1n : last
    const logs = await Promise.all(
      filters.map((filter) => readLogRange(through, { from, to }, filter)),
    )
    const [found] = logs.flat()
    if (found) return found
  }
  return undefined
}

/**
 * Writes what a block says in one transaction, unless that block was taken back since it was looked at: a
 * verdict of an orphan would become final unseen.
 */
async function writeIfStillOwn(
  { db, client }: DriverTools,
  { blockNumber, blockHash }: Receipt,
  write: (trx: Db) => Promise<void>,
): Promise<boolean> {
  const { chainId } = client.chain
  return db.transaction(async (trx) => {
    const headers = await readHeaders(trx, chainId)
    const state = await findChainState(trx, chainId)
    const isKept = headers.some((kept) => kept.number === blockNumber && kept.hash === blockHash)
    if (!isKept && blockNumber >= (state?.finalizedBlock ?? 0n)) return false
    await write(trx)
    return true
  })
}

/** True when a receipt's block is one that we have booked: an orphan's receipt says nothing. */
async function isOwnBlock(
  tools: DriverTools,
  { blockNumber, blockHash }: Receipt,
  { finalizedBlock }: ChainState,
): Promise<boolean> {
  const through = followedEndpoint(tools)
  const kept = (await readHeaders(tools.db, through.chain.chainId)).find(
    ({ number }) => number === blockNumber,
  )
  if (kept) return kept.hash === blockHash
  // Headers below the finalized block are not kept. There the node's own word is final.
  return (
    blockNumber < finalizedBlock && (await readBlock(through, { blockNumber }))?.hash === blockHash
  )
}
