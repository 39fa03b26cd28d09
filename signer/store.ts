import { Transaction, type TransactionRequest } from 'ethers'
import { highestL1Part } from '../chains/l1Costs.js'
import { openAccount } from '../custody/open.js'
import { ENTRY_POINT_ADDRESS } from '../chains/registry.js'
import { insertSignature } from '../db/lanes/signatures.js'
import { lockNextNonce, storeSigned, type Lane } from '../db/lanes/signing.js'
import { lockTaken } from '../db/lanes/taking.js'
import { ServiceError } from '../domain/errors.js'
import { encodeBundle, gasLimitOf } from '../protocols/userOperation.js'
import { assertGenuine } from './genuine.js'
import { signPrepared } from './signing.js'
import type { Signed } from './payload.js'
import { assertAffordable } from './treasury.js'
import type { Call } from '../domain/operation.js'
import type { Prepared } from './prepare.js'
import type { Round, SignerTools } from './round.js'

export type Stored = { nonce: bigint; hash: string; operations: string[] }

type StoringTools = Pick<SignerTools, 'db' | 'keyring'>

/**
 * Signs and stores one transaction for those operations that are still ours, in one database
 * transaction: a signature exists exactly when its row says so.
 *
 * @returns undefined when nothing was left to sign.
 */
export async function signAndStore(
  { db, keyring }: StoringTools,
  round: Round,
  prepared: Prepared[],
): Promise<Stored | undefined> {
  return db.transaction(async (trx) => {
    const operations = prepared.map(({ operation }) => operation)
    const live = await lockTaken(trx, operations, keyring.taker)
    const ours = prepared.filter(({ operation }) => live.includes(operation))
    if (ours.length === 0) return undefined
    const { chainId } = round.client.chain
    for (const one of ours) {
      if (one.kind === 'funding') await assertAffordable(trx, chainId, one.funds)
    }
    const signed: Signed[] = []
    for (const one of ours) signed.push(await signPrepared(keyring, round.client.chain, one))
    const stored = await storeTransaction({ db: trx, keyring }, round, signed)
    for (const { operation, payload } of signed) await insertSignature(trx, operation.id, payload)
    return stored
  })
}

/** Carries an operation whose transaction died in a new one, alone: the payload that was signed for it. */
export async function storeAgain(
  { db, keyring }: StoringTools,
  round: Round,
  signed: Signed,
): Promise<Stored | undefined> {
  return db.transaction(async (trx) => {
    const [ours] = await lockTaken(trx, [signed.operation], keyring.taker)
    return ours && storeTransaction({ db: trx, keyring }, round, [signed])
  })
}

/** `db` is the transaction in which the operations are locked. */
async function storeTransaction(
  { db, keyring }: StoringTools,
  round: Round,
  carried: Signed[],
): Promise<Stored> {
  const { client, lane, usedNonces, fees } = round
  for (const signed of carried) await assertGenuine({ db, keyring }, client.chain, signed)
  const nonce = await lockNextNonce(db, lane)
  if (usedNonces > nonce) {
    const message = `Lane ${lane.sender} has used more nonces on chain than the database knows.`
    throw new ServiceError('INTERNAL', message)
  }
  const unsigned = { ...transactionOf(round, carried), nonce: Number(nonce) }
  const sender = await openAccount(keyring.kek, lane.sealedKey, laneContext(lane))
  const raw = await sender.signTransaction(unsigned)
  const { hash } = Transaction.from(raw)
  if (!hash) throw new Error('The transaction is not signed.')
  const operations = carried.map(({ operation }) => operation.id)
  await storeSigned(db, lane, { nonce, hash, raw, maxFeeWei: fees.maxWei, carried: operations })
  return { nonce, hash, operations }
}

/** @throws {ServiceError} RPC_ERROR when the lane cannot pay it, its data on L1 included. */
function transactionOf(
  { client: { chain }, lane, fees, balanceWei, l1Price }: Round,
  carried: Signed[],
): TransactionRequest {
  const { to, data } = callOf(lane, carried)
  const authorizationList = carried.flatMap(({ payload }) => payload.authorization ?? [])
  const gas = carried.reduce((sum, { payload }) => sum + BigInt(payload.gas), 0n)
  const authorizations = authorizationList.length
  const l1 = highestL1Part(chain, l1Price, { data, authorizations })
  const gasLimit = gasLimitOf(data, authorizations, gas) + l1.gas
  if (balanceWei < gasLimit * fees.maxWei + l1.feeWei) {
    throw new ServiceError('RPC_ERROR', `Lane ${lane.sender} on ${chain.name} is out of gas.`)
  }
  return {
    type: authorizations > 0 ? 4 : 2,
    chainId: chain.chainId,
    to,
    data,
    gasLimit,
    maxFeePerGas: fees.maxWei,
    maxPriorityFeePerGas: fees.tipWei,
    ...(authorizations > 0 ? { authorizationList } : {}),
  }
}

/** User operations travel together through the EntryPoint, any other call goes where it leads, alone. */
export function callOf(lane: Lane, carried: Pick<Signed, 'payload'>[]): Call {
  const direct = carried[0]?.payload.call
  if (direct) return direct
  const operations = carried.flatMap(({ payload }) => payload.userOperation ?? [])
  return { to: ENTRY_POINT_ADDRESS, data: encodeBundle(operations, lane.sender) }
}

export const laneContext = (lane: { chainId: bigint; sender: string; kekId: string }) => ({
  purpose: 'lane' as const,
  owner: `${lane.chainId}/${lane.sender}`,
  accountId: '',
  address: lane.sender,
  kekId: lane.kekId,
})
