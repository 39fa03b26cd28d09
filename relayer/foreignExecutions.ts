import { readLogRange } from '../evm/logs/logRange.js'
import { readBlock, readReceipt, type Receipt } from '../evm/read.js'
import {
  findChainState,
  readHeaders,
  setTransactionsMined,
  type BlockId,
} from '../operations/indexing/indexedBlocks.js'
import { setMined } from '../operations/indexing/outcomes.js'
import {
  findSpentOperations,
  type OpenSend,
  type SpentOperation,
  type WatchedOperation,
} from '../operations/indexing/watched.js'
import { largest } from '../domain/money.js'
import { outcomeFiltersOf } from '../evm/logs/outcomes.js'
import { matchExposed } from './blockOutcomes.js'
import { followedEndpoint } from './endpoint.js'
import type { Db } from '../db/client/connect.js'
import type { DriverTools, KeySearch } from './relayerTools.js'

/** Blocks per search request, and requests in a row before the search yields to other work. */
const SEARCHED_BLOCKS = 2_000n
const RANGES_AT_ONCE = 5
/** Delay after a complete search without a result. */
const EMPTY_SEARCH_MS = 60_000

type InBlock = Pick<Receipt, 'blockNumber' | 'blockHash'>

/**
 * Indexes one of our transactions that is mined in an already indexed block. After a restored backup, a transaction
 * may have been mined where this database had already looked.
 *
 * @returns True when the transaction is mined and need not be sent again.
 */
export async function indexForeignExecutions(tools: DriverTools, send: OpenSend): Promise<boolean> {
  const { db, log } = tools
  const through = followedEndpoint(tools)
  const { chain } = through
  // On failure the transaction is sent once more, which is harmless.
  const receipt = await readReceipt(through, send.hash).catch(() => undefined)
  if (!receipt) return false
  const state = await findChainState(db, chain.chainId)
  if (!state || receipt.blockNumber > state.indexed.number) return true
  const proof = await findProof(tools, receipt)
  if (!proof) return false
  const mined = await matchExposed({ ...tools, client: through }, [], [{ send, receipt }])
  const isIndexed = await writeIfStillOwn(tools, proof, async (trx) => {
    await setMined(trx, mined)
    await setTransactionsMined(trx, [{ send, receipt }])
  })
  if (!isIndexed) return false
  log.warn({ chain: chain.name, hash: send.hash }, 'transaction found in an indexed block')
  return true
}

/**
 * Searches indexed blocks for the logs of operations whose keys are spent. They were executed before their row
 * existed, or by another party while they had no transaction of ours. The search goes from the newest block down.
 */
export async function indexSpentKeys(tools: DriverTools): Promise<void> {
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
  if (search.nextSearchAt > Date.now()) return
  search.next ??= state.indexed.number
  for (let i = 0; i < RANGES_AT_ONCE && search.next >= spentSince; i++) {
    const from: bigint = largest(search.next - SEARCHED_BLOCKS + 1n, spentSince)
    const [indexed] = await indexOutcomesIn(tools, { from, to: search.next }, [operation])
    if (indexed !== undefined) return
    search.next = from - 1n
  }
  if (search.next < spentSince) endSearch(tools, id, search)
}

const startSearch = (key: string): KeySearch => ({
  key,
  next: undefined,
  isEmpty: false,
  isReported: false,
  nextSearchAt: 0,
})

/** The search found nothing. The log may be above the indexed block, where normal indexing finds it. */
function endSearch({ client, log }: DriverTools, operation: string, search: KeySearch): void {
  if (search.isEmpty && !search.isReported) {
    search.isReported = true
    log.error({ chain: client.chain.name, operation }, 'log of an executed operation not found')
  }
  search.isEmpty = true
  search.next = undefined
  search.nextSearchAt = Date.now() + EMPTY_SEARCH_MS
}

/**
 * Searches a range of indexed blocks for the outcomes of the given operations and stores them, in any row state.
 *
 * @returns The ids of the operations with a stored outcome.
 * @throws {ServiceError} RPC_ERROR when the endpoint does not return the logs of the range.
 */
export async function indexOutcomesIn(
  tools: DriverTools,
  range: { from: bigint; to: bigint },
  operations: WatchedOperation[],
): Promise<string[]> {
  const { db, log } = tools
  const through = followedEndpoint(tools)
  const { chain } = through
  const state = await findChainState(db, chain.chainId)
  if (!state || range.to > state.indexed.number) return []
  const filters = outcomeFiltersOf(chain, operations)
  const logs = await Promise.all(filters.map((filter) => readLogRange(through, range, filter)))
  const wanted = new Set(operations.map(({ id }) => id))
  const found = await matchExposed({ ...tools, client: through }, logs.flat(), [])
  const indexed: string[] = []
  for (const mined of found.filter(({ id }) => wanted.has(id))) {
    const { number: blockNumber, hash: blockHash } = mined.block
    const block = { blockNumber, blockHash }
    const proof = await findProof(tools, block)
    if (!proof) continue
    if (!(await writeIfStillOwn(tools, proof, (trx) => setMined(trx, [mined])))) continue
    indexed.push(mined.id)
    const facts = { chain: chain.name, operation: mined.id, hash: mined.txHash }
    log.info(facts, 'foreign execution indexed')
  }
  return indexed
}

/**
 * Writes the contents of a block in one transaction, unless the block was rolled back since it was read. The outcome
 * of a removed block would become final unnoticed.
 *
 * @param proof - From `findProof`.
 */
async function writeIfStillOwn(
  { db, client }: DriverTools,
  proof: BlockId,
  write: (trx: Db) => Promise<void>,
): Promise<boolean> {
  const { chainId } = client.chain
  return db.transaction(async (trx) => {
    const headers = await readHeaders(trx, chainId)
    const state = await findChainState(trx, chainId)
    const isKept = headers.some(
      ({ number, hash }) => number === proof.number && hash === proof.hash,
    )
    if (!isKept && proof.number >= (state?.finalizedBlock ?? 0n)) return false
    await write(trx)
    return true
  })
}

/**
 * The stored block that proves an indexed one: itself, or the next one above, of which it is an ancestor. Blocks below
 * the finalized one are not stored, nor those between two blocks that were indexed while nothing was open: the node
 * decides there. Undefined for a removed block.
 */
async function findProof(
  tools: DriverTools,
  { blockNumber, blockHash }: InBlock,
): Promise<BlockId | undefined> {
  const through = followedEndpoint(tools)
  const headers = await readHeaders(tools.db, through.chain.chainId)
  const proof = headers.findLast(({ number }) => number >= blockNumber)
  if (proof?.number === blockNumber) return proof.hash === blockHash ? proof : undefined
  if (!proof) return undefined
  const [block, known] = await Promise.all([
    readBlock(through, { blockNumber }),
    readBlock(through, { blockNumber: proof.number }),
  ])
  return block?.hash === blockHash && known?.hash === proof.hash ? proof : undefined
}
