import { readLogRange } from '../chains/logRange.js'
import { readBlock, readReceipt, type Receipt } from '../chains/read.js'
import {
  findChainState,
  readHeaders,
  setTransactionsMined,
  type IndexedChain,
} from '../db/lanes/booking.js'
import { setMined } from '../db/lanes/outcomes.js'
import {
  findSpentOperations,
  type OpenSend,
  type SpentOperation,
  type WatchedOperation,
} from '../db/lanes/watched.js'
import { largest } from '../domain/money.js'
import { outcomeFiltersOf } from '../protocols/outcomes.js'
import { matchOutcomes } from './blockOutcomes.js'
import { followedEndpoint } from './endpoint.js'
import type { Db } from '../db/connection/connect.js'
import type { DriverTools, Search } from './driverTools.js'

/** Blocks searched in one go, and how many times before the others have their turn. */
const SEARCHED_BLOCKS = 2_000n
const RANGES_AT_ONCE = 5
/** Pause after a search of everything that has found nothing. */
const EMPTY_SEARCH_MS = 60_000

type InBlock = Pick<Receipt, 'blockNumber' | 'blockHash'>

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
    await setMined(trx, mined)
    await setTransactionsMined(trx, [{ send, receipt }])
  })
  if (!isBooked) return false
  log.warn({ chain: chain.name, hash: send.hash }, 'mined in a block that was booked without it')
  return true
}

/**
 * Looks up, in blocks that were booked already, what somebody has executed before there was a row of it or
 * while its carrier was dead: operations whose keys the signer has found used. What is recent is found first.
 */
export async function bookSpentKeys(tools: DriverTools): Promise<void> {
  const { db, client, searches } = tools
  const operations = await findSpentOperations(db, client.chain.chainId)
  const ids = new Set(operations.map(({ id }) => id))
  for (const id of searches.keys()) if (!ids.has(id)) searches.delete(id)
  for (const operation of operations) await searchFurther(tools, operation)
}

async function searchFurther(tools: DriverTools, operation: SpentOperation): Promise<void> {
  const { db, client, searches } = tools
  const { id, chainKey, spentSince } = operation
  const state = await findChainState(db, client.chain.chainId)
  if (!state) return
  const known = searches.get(id)
  const search = known?.key === chainKey ? known : startSearch(chainKey)
  searches.set(id, search)
  if (search.pausedUntil > Date.now()) return
  search.next ??= state.booked.number
  for (let i = 0; i < RANGES_AT_ONCE && search.next >= spentSince; i++) {
    const from: bigint = largest(search.next - SEARCHED_BLOCKS + 1n, spentSince)
    const [booked] = await bookOutcomesIn(tools, { from, to: search.next }, [operation])
    if (booked !== undefined) return
    search.next = from - 1n
  }
  if (search.next < spentSince) endSearch(tools, id, search)
}

const startSearch = (key: string): Search => ({
  key,
  next: undefined,
  isEmpty: false,
  isTold: false,
  pausedUntil: 0,
})

/** All was searched. The log may stand above what is booked, to which booking comes by itself. */
function endSearch({ client, log }: DriverTools, operation: string, search: Search): void {
  if (search.isEmpty && !search.isTold) {
    search.isTold = true
    log.error({ chain: client.chain.name, operation }, 'executed, but no block has its log')
  }
  search.isEmpty = true
  search.next = undefined
  search.pausedUntil = Date.now() + EMPTY_SEARCH_MS
}

/**
 * Searches a range of booked blocks for the outcomes of some operations of the chain, and books those that
 * it finds, whatever the state of their rows.
 *
 * @returns The ids of the operations that were booked.
 * @throws {ServiceError} RPC_ERROR when the endpoint does not tell the logs of the range.
 */
export async function bookOutcomesIn(
  tools: DriverTools,
  range: { from: bigint; to: bigint },
  operations: WatchedOperation[],
): Promise<string[]> {
  const { db, log } = tools
  const through = followedEndpoint(tools)
  const { chain } = through
  const state = await findChainState(db, chain.chainId)
  if (!state || range.to > state.booked.number) return []
  const filters = outcomeFiltersOf(chain, operations)
  const logs = await Promise.all(filters.map((filter) => readLogRange(through, range, filter)))
  const wanted = new Set(operations.map(({ id }) => id))
  const found = await matchOutcomes({ ...tools, client: through }, logs.flat(), [])
  const booked: string[] = []
  for (const mined of found.filter(({ id }) => wanted.has(id))) {
    const { number: blockNumber, hash: blockHash } = mined.block
    const block = { blockNumber, blockHash }
    if (!(await isOwnBlock(tools, block, state))) continue
    if (!(await writeIfStillOwn(tools, block, (trx) => setMined(trx, [mined])))) continue
    booked.push(mined.id)
    const facts = { chain: chain.name, operation: mined.id, hash: mined.txHash }
    log.info(facts, 'executed by somebody else, or before its row was there')
  }
  return booked
}

/**
 * Writes what a block says in one transaction, unless that block was taken back since it was looked at: a
 * verdict of an orphan would become final unseen.
 */
async function writeIfStillOwn(
  { db, client }: DriverTools,
  { blockNumber, blockHash }: InBlock,
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

/** True when a block is one that we have booked: what an orphan says is nothing. */
async function isOwnBlock(
  tools: DriverTools,
  { blockNumber, blockHash }: InBlock,
  { finalizedBlock }: IndexedChain,
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
