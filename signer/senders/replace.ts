import { setTimeout as sleep } from 'node:timers/promises'
import { Transaction, type TransactionRequest } from 'ethers'
import { faultPoint } from '../../runtime/faultPoints.js'
import { disabledBecause, type ChainClient } from '../../evm/connect.js'
import { highestL1Part, readL1Price } from '../../evm/l1Costs.js'
import { openAccount } from '../../custody/open.js'
import { refusal } from '../../custody/policy.js'
import { detachOperations, withdrawOperations } from '../../operations/signing/inclusion.js'
import {
  appendSend,
  findStuck,
  lockIncluded,
  notifyIncluded,
  type StuckTransaction,
} from '../../operations/signing/replacing.js'
import { readWithheld } from '../../db/pauses.js'
import { lockNextNonce, readAllSenders, type Sender } from '../../operations/signing/signing.js'
import { divideUp, largest, smallest } from '../../domain/money.js'
import {
  readGasTerms,
  type GasTerms,
  type SenderState,
  type SignerTools,
} from '../signingContext.js'
import { senderKeyContext } from '../store.js'
import { MAX_NOTIFY_WAIT_MS } from '../../runtime/durations.js'
import type { Chain } from '../../evm/registry.js'
import type { WaitingCode } from '../../domain/intent/waiting.js'

const TRANSFER_GAS = 21_000n

/** Replaces the stuck transactions of a chain until the signal aborts. It broadcasts nothing. */
export async function keepReplacing(
  tools: SignerTools,
  client: ChainClient,
  stopping: AbortSignal,
): Promise<void> {
  const replaceStuck = createReplacer(tools, client)
  while (!stopping.aborted) {
    await replaceStuck().catch((error: unknown) => {
      tools.log.warn({ err: error, chain: client.chain.name }, 'stuck transactions not replaced')
    })
    await sleep(MAX_NOTIFY_WAIT_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/**
 * Replaces the transaction that blocks a sender with one of the same nonce and higher fees. It makes the same call,
 * or an empty transfer to the sender itself when nodes reject the bytes, no operation needs them or a freeze withholds
 * one. Each older send may still be mined instead.
 *
 * @returns A function that checks every sender of the chain once. An unreplaced transaction is logged once.
 */
export function createReplacer(tools: SignerTools, client: ChainClient): () => Promise<void> {
  const { db, log } = tools
  const { chainId, name, stuckAfter } = client.chain
  const logged = new Map<bigint, string>()

  async function reportObstacle(stuck: StuckTransaction, obstacle: Obstacle): Promise<void> {
    await notifyIncluded(db, stuck.txId, obstacle)
    const { message: why } = obstacle
    if (logged.get(stuck.txId) === why) return
    logged.set(stuck.txId, why)
    const { sender, nonce } = stuck
    log.error({ chain: name, sender, nonce, why }, 'stuck transaction not replaced')
  }

  async function replace(sender: Sender, stuck: StuckTransaction): Promise<void> {
    const [terms, l1Price, balance] = await Promise.all([
      readGasTerms(client),
      readL1Price(client),
      client.send<string>('eth_getBalance', [sender.address, 'latest']),
    ])
    const replacement = draftReplacement(client.chain, stuck, {
      ...{ ...terms, l1Price },
      balanceWei: BigInt(balance),
      budgetWei: tools.operationGasWei * BigInt(Math.max(stuck.operations, 1)),
    })
    if ('message' in replacement) return reportObstacle(stuck, replacement)
    const hash = await signAndAppend(tools, sender, { stuck, ...replacement })
    if (!hash) return
    logged.delete(stuck.txId)
    await notifyIncluded(db, stuck.txId, null)
    const facts = { nonce: stuck.nonce, n: stuck.n + 1, hash, isEmpty: replacement.isEmpty }
    log.warn({ chain: name, sender: sender.address, ...facts }, 'stuck transaction replaced')
  }

  return async () => {
    if (disabledBecause(client, 'chain') || tools.keyring.stopFile.isThere()) return
    const stuck = await findStuck(db, chainId, stuckAfter)
    for (const id of logged.keys()) if (!stuck.some(({ txId }) => txId === id)) logged.delete(id)
    if (stuck.length === 0 || (await readWithheld(db, chainId, [])).isPaused) return
    const senders = await readAllSenders(db, chainId)
    // One sender that fails must not delay the others.
    const results = await Promise.allSettled(
      stuck.map(async (one) => {
        const sender = senders.find(({ address }) => address === one.sender)
        if (sender) await replace(sender, one)
      }),
    )
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }
}

/** Current fees of the chain, the sender's balance, and the highest cost of a transaction, wei. */
type Budget = GasTerms & Pick<SenderState, 'balanceWei' | 'l1Price'> & { budgetWei: bigint }

/** An unsigned transaction. `isEmpty`: it includes no operation and only uses up its nonce. */
type ReplacementDraft = { unsigned: TransactionRequest; isEmpty: boolean }

/**
 * The transaction that replaces a stuck one.
 *
 * @param bounds - They hold for each send of the nonce.
 * @returns The obstacle, when the replacement would cost too much.
 */
function draftReplacement(
  chain: Chain,
  stuck: StuckTransaction,
  bounds: Budget,
): ReplacementDraft | Obstacle {
  const old = readOwn(chain, stuck)
  const isEmpty = mustBeEmpty(stuck, old)
  const { to, data, value } = old
  const call = isEmpty ? { to: stuck.sender, data: '0x' } : { to, data, value }
  const authorizationList = isEmpty ? [] : (old.authorizationList ?? [])
  const posted = { data: call.data, authorizations: authorizationList.length }
  const l1 = highestL1Part(chain, bounds.l1Price, posted)
  const gasLimit = isEmpty ? TRANSFER_GAS + l1.gas : old.gasLimit
  const fees = raiseFees(chain, old, { ...bounds, gasLimit, l1FeeWei: l1.feeWei })
  if ('message' in fees) return fees
  const isDelegating = authorizationList.length > 0
  const unsigned = {
    type: isDelegating ? 4 : 2,
    chainId: old.chainId,
    nonce: old.nonce,
    ...call,
    gasLimit,
    ...fees,
    ...(isDelegating ? { authorizationList } : {}),
  }
  return { unsigned, isEmpty }
}

function mustBeEmpty({ isRefused, isWithheld, operations }: StuckTransaction, old: Transaction) {
  const wasEmpty = old.to === old.from && old.data === '0x'
  const isNeeded = operations > 0 || old.value > 0n
  return wasEmpty || isRefused || isWithheld || !isNeeded
}

/** A sender may sign its own transaction again, and nothing else that a row may hold. */
function readOwn(
  { chainId }: Chain,
  { raw, sender, nonce }: Pick<StuckTransaction, 'raw' | 'sender' | 'nonce'>,
): Transaction {
  const old = Transaction.from(raw)
  const isOwn = old.from === sender && BigInt(old.nonce) === nonce
  if (isOwn && old.chainId === BigInt(chainId)) return old
  throw refusal("the stored bytes must be the sender's own.")
}

/**
 * Both fees must rise for a node to accept a replacement: geth and Erigon require 10 %. The result is 12.5 % higher,
 * and by at least 1 wei.
 * @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/legacypool/legacypool.go PriceBump
 */
const raised = (wei: bigint) => largest(divideUp(wei * 9n, 8n), wei + 1n)

/** Why a transaction is not replaced now. */
type Obstacle = { message: string; waitsFor: WaitingCode }

const tooExpensive = (message: string): Obstacle => ({ message, waitsFor: 'GAS_PRICE' })

type FeeBounds = Budget & { gasLimit: bigint; l1FeeWei: bigint }

/** Fees above those of the previous send and at least the current fees of the chain, or why they are impossible. */
function raiseFees(
  { name, maxFeeCapWei }: Chain,
  old: Transaction,
  { block: { baseFeeWei }, tipWei, budgetWei, balanceWei, gasLimit, l1FeeWei }: FeeBounds,
): { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } | Obstacle {
  const least = raised(old.maxFeePerGas ?? 0n)
  const maxPriorityFeePerGas = largest(tipWei, raised(old.maxPriorityFeePerGas ?? 0n))
  const needed = largest(least, baseFeeWei + maxPriorityFeePerGas)
  const budget = (budgetWei - l1FeeWei) / gasLimit
  if (needed > maxFeeCapWei) return tooExpensive(`Gas on ${name} exceeds the fee cap of the chain.`)
  if (needed > budget) return tooExpensive(`Gas on ${name} exceeds the gas budget of an operation.`)
  // Allows the base fee to double, within cap and budget.
  const wanted = largest(needed, 2n * baseFeeWei + maxPriorityFeePerGas)
  const maxFeePerGas = smallest(wanted, maxFeeCapWei, budget)
  if (balanceWei < gasLimit * maxFeePerGas + l1FeeWei + old.value) {
    return { message: `Sender ${old.from} on ${name} is out of gas.`, waitsFor: 'SENDER_GAS' }
  }
  return { maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * Signs and stores a replacement under the sender's lock, if the transaction is still open and not replaced yet, and the
 * same operations are withheld as before. An operation that the replacement omits loses its bundle transaction.
 *
 * @returns The hash; undefined when nothing was stored.
 */
async function signAndAppend(
  { db, keyring }: Pick<SignerTools, 'db' | 'keyring'>,
  sender: Sender,
  { stuck, unsigned, isEmpty }: ReplacementDraft & { stuck: StuckTransaction },
): Promise<string | undefined> {
  const { txId, n, isWithheld } = stuck
  return db.transaction(async (trx) => {
    const included = await lockIncluded(trx, txId)
    await lockNextNonce(trx, sender)
    const { isPaused, operations } = await readWithheld(trx, sender.chainId, included)
    if (isPaused || operations.length > 0 !== isWithheld) return undefined
    const account = await openAccount(keyring.kek, sender.sealedKey, senderKeyContext(sender))
    keyring.stopFile.assertAbsent()
    const raw = await account.signTransaction(unsigned)
    const { hash, maxFeePerGas } = Transaction.from(raw)
    if (!hash || maxFeePerGas === null) throw new Error('The transaction is not signed.')
    const isStored = await appendSend(trx, { txId, n, hash, raw, maxFeeWei: maxFeePerGas })
    if (!isStored) return undefined
    if (isWithheld) await withdrawOperations(trx, txId)
    else if (isEmpty) await detachOperations(trx, [txId.toString()])
    faultPoint('signer: replacement before the commit')
    return hash
  })
}
