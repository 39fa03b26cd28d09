import { setTimeout as sleep } from 'node:timers/promises'
import { getAddress, toQuantity } from 'ethers'
import { isSameAddress } from '../chains/address.js'
import { findFinalized } from '../chains/finality.js'
import { readLogRange } from '../chains/logRange.js'
import { readBlock, readReceipt, type Block } from '../chains/read.js'
import {
  pageTransactions,
  readAuditedChain,
  readAuditedLanes,
  type AuditedChain,
  type AuditedLane,
  type AuditedTx,
} from '../db/audit/rows.js'
import { findOperationsByKey } from '../db/lanes/watched.js'
import { isOutcomeOf, outcomeFilter, readOutcome } from '../protocols/outcomes.js'
import { pagesOf } from './pages.js'
import type { ChainClient } from '../chains/connect.js'
import type { Difference } from './difference.js'
import { SETTLED_AFTER_MS, type AuditTools } from './tools.js'

const BY_HAND = 'Find out what wrote it. There is no automatic repair.'

/** Checks the indexed block of a chain, the nonces of its senders, and all their transactions. */
export async function* auditLanes(
  tools: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { db, progress } = tools
  const { chainId, name } = client.chain
  progress(`${name}: senders`)
  const head = await readBlock(client, 'latest')
  const booked = await readAuditedChain(db, chainId, SETTLED_AFTER_MS)
  if (!head || !booked) return
  yield* judgeBooking(tools, client, { head, booked })
  let isAhead = false
  for (const lane of await readAuditedLanes(db, chainId)) {
    const used = await readNonces(client, lane.sender, head)
    isAhead ||= used.latest > lane.nextNonce
    yield* judgeLane(client, lane, used)
  }
  if (isAhead) yield* findStrangers(tools, client, { head, booked })
  yield* auditTransactions(tools, client)
}

type IndexedChain = { head: Block; booked: AuditedChain }

async function* judgeBooking(
  { db, againMs }: AuditTools,
  client: ChainClient,
  { head, booked }: IndexedChain,
): AsyncGenerator<Difference> {
  const { chainId, name } = client.chain
  const about = `index of ${name}`
  const row = `indexed up to block ${booked.bookedBlock}`
  if (booked.isSilent && head.number > booked.bookedBlock) {
    const mend = 'The relayer continues from there once it runs.'
    yield { check: 'booking', about, row, chain: `its head is block ${head.number}`, mend }
  }
  if (await isCanonical(client, booked)) return
  await sleep(againMs)
  const later = await readAuditedChain(db, chainId, SETTLED_AFTER_MS)
  if (!later || (await isCanonical(client, later))) return
  const mend = 'The relayer rolls back blocks that are not canonical once it runs.'
  yield { check: 'booking', about, row, chain: 'another block at this height, or none', mend }
}

/** Whether the indexed block is canonical. */
async function isCanonical(client: ChainClient, { bookedBlock, bookedHash }: AuditedChain) {
  const block = await readBlock(client, { blockNumber: bookedBlock })
  return block?.hash === bookedHash
}

/** Transaction counts of a sender on its chain. `pending` includes transactions in the mempool. */
type Nonces = { latest: bigint; final: bigint; pending: bigint }

async function readNonces(client: ChainClient, sender: string, head: Block): Promise<Nonces> {
  const { block, isAssumed } = await findFinalized(client, head)
  const count = async (at: string) =>
    BigInt(await client.send<string>('eth_getTransactionCount', [sender, at]))
  const number = block && toQuantity(block.number)
  const final = isAssumed || !number ? number : 'finalized'
  return {
    latest: await count('latest'),
    final: final ? await count(final) : 0n,
    pending: await count('pending'),
  }
}

function* judgeLane(
  { chain: { chainId, name } }: ChainClient,
  { sender, nextNonce, gaps }: AuditedLane,
  { latest, final, pending }: Nonces,
): Generator<Difference> {
  const about = `sender ${sender} on ${name}`
  const row = `next nonce ${nextNonce}`
  if (gaps.length > 0) {
    const chain = `nonces ${gaps.join(', ')} have no transaction`
    yield { check: 'lanes', about, row, chain, mend: BY_HAND }
  }
  if (latest <= nextNonce) return
  const chain = `${latest} nonces used, so the sender cannot sign`
  if (final < latest) {
    // Their signed bytes are unknown. If a reorg dropped one of them, the sender could not fill the gap.
    const mend = `Run the audit again when they are final. ${final} are final now.`
    yield { check: 'lanes', about, row, chain, mend }
    return
  }
  if (pending > latest) {
    const mend = `Run the audit again when ${pending - latest} pending transactions without a row are mined.`
    yield { check: 'lanes', about, row, chain, mend }
    return
  }
  const repair = { type: 'moveLane', chainId, sender, from: nextNonce, to: latest } as const
  const mend = `Set its next nonce to ${latest} and record the nonces in between as lost.`
  yield { check: 'lanes', about, row, chain, mend, repair }
}

/**
 * Reports operations that the senders executed above the indexed block and that have no row. After the restore of a
 * backup the operation, and possibly its wallet, is missing. The request cannot be reconstructed from the chain.
 */
async function* findStrangers(
  { db, progress }: AuditTools,
  client: ChainClient,
  { head, booked }: IndexedChain,
): AsyncGenerator<Difference> {
  const { chain } = client
  progress(`${chain.name}: executed operations without a row`)
  const lanes = await readAuditedLanes(db, chain.chainId)
  const range = { from: booked.bookedBlock + 1n, to: head.number }
  for (const log of await readLogRange(client, range, outcomeFilter(chain))) {
    const outcome = readOutcome(chain, log)
    if (!outcome) continue
    const rows = await findOperationsByKey(db, chain.chainId, [outcome.key])
    if (rows.some((row) => isOutcomeOf(outcome, row))) continue
    const transaction = [log.transactionHash]
    const sent = await client.send<{ from: string }>('eth_getTransactionByHash', transaction)
    if (!lanes.some(({ sender }) => isSameAddress(sender, sent.from))) continue
    const actor = outcome.actor ? getAddress(outcome.actor) : 'a bridge message'
    const wallet = await db('wallet')
      .whereILike('address', actor)
      .first<{ id: string } | undefined>('id')
    const row = wallet ? 'no operation' : 'neither an operation nor a wallet'
    yield {
      ...{ check: 'strangers', about: `${actor} on ${chain.name}`, row },
      chain: `executed by a sender in ${log.transactionHash}`,
      mend: 'Open intents restore their own operations. Any other row is lost with the backup.',
    }
  }
}

/** Checks that each mined transaction is in its block under one of its stored hashes. */
async function* auditTransactions(
  { db, progress, againMs }: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { chainId, name } = client.chain
  const read = (page: { after: string; limit: number }) => pageTransactions(db, chainId, page)
  let count = 0
  for await (const page of pagesOf(read, ({ id }) => String(id))) {
    progress(`${name}: ${(count += page.length)} transactions`)
    const odd = await findUnconfirmed(client, page)
    if (odd.length === 0) continue
    await sleep(againMs)
    const ids = odd.map(({ id }) => id)
    const first = String((ids[0] ?? 1n) - 1n)
    const again = await read({ after: first, limit: page.length })
    const still = await findUnconfirmed(
      client,
      again.filter(({ id }) => ids.includes(id)),
    )
    for (const { sender, nonce, state } of still) {
      const about = `nonce ${nonce} of sender ${sender} on ${name}`
      const chain = 'none of its stored hashes is in that block'
      const mend = 'No action. The audit checks its operations by their own logs.'
      yield { check: 'transactions', about, row: state, chain, mend }
    }
  }
}

async function findUnconfirmed(client: ChainClient, page: AuditedTx[]): Promise<AuditedTx[]> {
  const mined = page.filter(({ state }) => state === 'mined' || state === 'final')
  const found = await Promise.all(
    mined.map(async ({ hashes, blockHash }) => {
      const receipts = await Promise.all(hashes.map((hash) => readReceipt(client, hash)))
      return receipts.some((receipt) => receipt?.blockHash === blockHash)
    }),
  )
  return mined.filter((_, i) => !found[i])
}
