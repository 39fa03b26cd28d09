import { setTimeout as sleep } from 'node:timers/promises'
import { getAddress, toQuantity } from 'ethers'
import { isSameAddress } from '../../evm/address.js'
import { findFinalized } from '../../evm/logs/finality.js'
import { readLogRange } from '../../evm/logs/logRange.js'
import { readBlock, readReceipt, type Block } from '../../evm/read.js'
import {
  pageTransactions,
  readAuditedChain,
  readAuditedSenders,
  type AuditedChain,
  type AuditedSender,
  type AuditedTx,
} from './rows/rows.js'
import { findOperationsByKey } from '../../operations/indexing/watched.js'
import { isOutcomeOf, outcomeFilter, readOutcome } from '../../evm/logs/outcomes.js'
import { pagesOf } from './pages.js'
import type { ChainClient } from '../../evm/connect.js'
import type { Difference } from './difference.js'
import { SETTLED_AFTER_MS, type AuditTools } from './tools.js'

const BY_HAND = 'Find out what wrote it. There is no automatic repair.'

/** Checks the indexed block of a chain, the nonces of its senders, and all their transactions. */
export async function* auditSenders(
  tools: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { db, progress } = tools
  const { chainId, name } = client.chain
  progress(`${name}: senders`)
  const head = await readBlock(client, 'latest')
  const indexed = await readAuditedChain(db, chainId, SETTLED_AFTER_MS)
  if (!head || !indexed) return
  yield* judgeIndexing(tools, client, { head, indexed })
  let isAhead = false
  for (const sender of await readAuditedSenders(db, chainId)) {
    const used = await readNonces(client, sender.sender, head)
    isAhead ||= used.latest > sender.nextNonce
    yield* judgeSender(client, sender, used)
  }
  if (isAhead) yield* findStrangers(tools, client, { head, indexed })
  yield* auditTransactions(tools, client)
}

type JudgedChain = { head: Block; indexed: AuditedChain }

async function* judgeIndexing(
  { db, againMs }: AuditTools,
  client: ChainClient,
  { head, indexed }: JudgedChain,
): AsyncGenerator<Difference> {
  const { chainId, name } = client.chain
  const about = `index of ${name}`
  const row = `indexed up to block ${indexed.indexedBlock}`
  if (indexed.isSilent && head.number > indexed.indexedBlock) {
    const remedy = 'The relayer continues from there once it runs.'
    yield { check: 'indexing', about, row, chain: `its head is block ${head.number}`, remedy }
  }
  if (await isCanonical(client, indexed)) return
  await sleep(againMs)
  const later = await readAuditedChain(db, chainId, SETTLED_AFTER_MS)
  if (!later || (await isCanonical(client, later))) return
  const remedy = 'The relayer rolls back blocks that are not canonical once it runs.'
  yield { check: 'indexing', about, row, chain: 'another block at this height, or none', remedy }
}

/** Whether the indexed block is canonical. */
async function isCanonical(client: ChainClient, { indexedBlock, indexedHash }: AuditedChain) {
  const block = await readBlock(client, { blockNumber: indexedBlock })
  return block?.hash === indexedHash
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

function* judgeSender(
  { chain: { chainId, name } }: ChainClient,
  { sender, nextNonce, gaps }: AuditedSender,
  { latest, final, pending }: Nonces,
): Generator<Difference> {
  const about = `sender ${sender} on ${name}`
  const row = `next nonce ${nextNonce}`
  if (gaps.length > 0) {
    const chain = `nonces ${gaps.join(', ')} have no transaction`
    yield { check: 'senders', about, row, chain, remedy: BY_HAND }
  }
  if (latest <= nextNonce) return
  const chain = `${latest} nonces used, so the sender cannot sign`
  if (final < latest) {
    // Their signed bytes are unknown. If a reorg dropped one of them, the sender could not fill the gap.
    const remedy = `Run the audit again when they are final. ${final} are final now.`
    yield { check: 'senders', about, row, chain, remedy }
    return
  }
  if (pending > latest) {
    const remedy = `Run the audit again when ${pending - latest} pending transactions without a row are mined.`
    yield { check: 'senders', about, row, chain, remedy }
    return
  }
  const repair = { type: 'moveSender', chainId, sender, from: nextNonce, to: latest } as const
  const remedy = `Set its next nonce to ${latest} and record the nonces in between as lost.`
  yield { check: 'senders', about, row, chain, remedy, repair }
}

/**
 * Reports operations that the senders executed above the indexed block and that have no row. After the restore of a
 * backup the operation, and possibly its wallet, is missing. The request cannot be reconstructed from the chain.
 */
async function* findStrangers(
  { db, progress }: AuditTools,
  client: ChainClient,
  { head, indexed }: JudgedChain,
): AsyncGenerator<Difference> {
  const { chain } = client
  progress(`${chain.name}: executed operations without a row`)
  const senders = await readAuditedSenders(db, chain.chainId)
  const range = { from: indexed.indexedBlock + 1n, to: head.number }
  for (const log of await readLogRange(client, range, outcomeFilter(chain))) {
    const outcome = readOutcome(chain, log)
    if (!outcome) continue
    const rows = await findOperationsByKey(db, chain.chainId, [outcome.key])
    if (rows.some((row) => isOutcomeOf(outcome, row))) continue
    const transaction = [log.transactionHash]
    const sent = await client.send<{ from: string }>('eth_getTransactionByHash', transaction)
    if (!senders.some(({ sender }) => isSameAddress(sender, sent.from))) continue
    const actor = outcome.actor ? getAddress(outcome.actor) : 'a bridge message'
    const wallet = await db('wallet')
      .whereILike('address', actor)
      .first<{ id: string } | undefined>('id')
    const row = wallet ? 'no operation' : 'neither an operation nor a wallet'
    yield {
      ...{ check: 'strangers', about: `${actor} on ${chain.name}`, row },
      chain: `executed by a sender in ${log.transactionHash}`,
      remedy: 'Open intents restore their own operations. Any other row is lost with the backup.',
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
      const remedy = 'No action. The audit checks its operations by their own logs.'
      yield { check: 'transactions', about, row: state, chain, remedy }
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
