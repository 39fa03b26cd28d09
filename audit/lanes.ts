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

/** A chain's booking, the nonces of its lanes, and every transaction that they sent. */
export async function* auditLanes(
  tools: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { db, progress } = tools
  const { chainId, name } = client.chain
  progress(`${name}: lanes`)
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

type Place = { head: Block; booked: AuditedChain }

async function* judgeBooking(
  { db, againMs }: AuditTools,
  client: ChainClient,
  { head, booked }: Place,
): AsyncGenerator<Difference> {
  const { chainId, name } = client.chain
  const about = `booking of ${name}`
  const row = `booked up to block ${booked.bookedBlock}`
  if (booked.isSilent && head.number > booked.bookedBlock) {
    const mend = 'The lanes go on from there as soon as they run.'
    yield { check: 'booking', about, row, chain: `its head is block ${head.number}`, mend }
  }
  if (await isCanonical(client, booked)) return
  await sleep(againMs)
  const later = await readAuditedChain(db, chainId, SETTLED_AFTER_MS)
  if (!later || (await isCanonical(client, later))) return
  const mend = 'The lanes take back what is not canonical as soon as they run.'
  yield { check: 'booking', about, row, chain: 'it has another block there, or none', mend }
}

/** A node that is behind has no such block, and says nothing about it. */
async function isCanonical(client: ChainClient, { bookedBlock, bookedHash }: AuditedChain) {
  const block = await readBlock(client, { blockNumber: bookedBlock })
  return block?.hash === bookedHash
}

/** How many nonces of a lane a chain counts; `pending` with those that wait to be mined. */
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
  const about = `lane ${sender} on ${name}`
  const row = `its next nonce is ${nextNonce}`
  if (gaps.length > 0) {
    const chain = `no transaction is known of its nonces ${gaps.join(', ')}`
    yield { check: 'lanes', about, row, chain, mend: 'Nothing does so by itself.' }
  }
  if (latest <= nextNonce) return
  const chain = `it has used ${latest}, so that it signs nothing`
  if (final < latest) {
    // Nobody here has their bytes: were they to vanish, the lane could never fill the hole.
    const mend = `Run it again when they are final: ${final} of them are.`
    yield { check: 'lanes', about, row, chain, mend }
    return
  }
  if (pending > latest) {
    const mend = `Run it again when they are mined: ${pending - latest} more wait that no row knows.`
    yield { check: 'lanes', about, row, chain, mend }
    return
  }
  const repair = { type: 'moveLane', chainId, sender, from: nextNonce, to: latest } as const
  const mend = `Its next nonce becomes ${latest}, and the ones between are kept as lost.`
  yield { check: 'lanes', about, row, chain, mend, repair }
}

/**
 * What our lanes have carried above the booked block and no row orders: a backup that was restored knows
 * neither the operation nor, maybe, the wallet. Nobody can write what was asked for.
 */
async function* findStrangers(
  { db, progress }: AuditTools,
  client: ChainClient,
  { head, booked }: Place,
): AsyncGenerator<Difference> {
  const { chain } = client
  progress(`${chain.name}: what lanes have done that no row knows`)
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
    const actor = outcome.actor ? getAddress(outcome.actor) : 'a message of the bridge'
    const wallet = await db('wallet')
      .whereILike('address', actor)
      .first<{ id: string } | undefined>('id')
    const row = wallet ? 'no row orders it' : 'neither it nor the wallet has a row'
    yield {
      ...{ check: 'strangers', about: `${actor} on ${chain.name}`, row },
      chain: `executed by a lane in ${log.transactionHash}`,
      mend: 'What can be told of it by open intents is. Else its row is lost with the backup.',
    }
  }
}

/** Every transaction's row against its chain: its block has it, under a hash that is stored. */
async function* auditTransactions(
  { db, progress, againMs }: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { chainId, name } = client.chain
  const read = (page: { after: string; limit: number }) => pageTransactions(db, chainId, page)
  let count = 0
  for await (const page of pagesOf(read, ({ id }) => String(id))) {
    progress(`${name}: ${(count += page.length)} transactions`)
    const odd = await findOdd(client, page)
    if (odd.length === 0) continue
    await sleep(againMs)
    const ids = odd.map(({ id }) => id)
    const first = String((ids[0] ?? 1n) - 1n)
    const again = await read({ after: first, limit: page.length })
    const still = await findOdd(
      client,
      again.filter(({ id }) => ids.includes(id)),
    )
    for (const { sender, nonce, state } of still) {
      const about = `nonce ${nonce} of lane ${sender} on ${name}`
      const chain = 'no stored hash is in that block'
      const mend = 'Its operations are judged by their own logs.'
      yield { check: 'transactions', about, row: state, chain, mend }
    }
  }
}

async function findOdd(client: ChainClient, page: AuditedTx[]): Promise<AuditedTx[]> {
  const mined = page.filter(({ state }) => state === 'mined' || state === 'final')
  const found = await Promise.all(
    mined.map(async ({ hashes, blockHash }) => {
      const receipts = await Promise.all(hashes.map((hash) => readReceipt(client, hash)))
      return receipts.some((receipt) => receipt?.blockHash === blockHash)
    }),
  )
  return mined.filter((_, i) => !found[i])
}
