import { crashPoint } from '../crashPoints.js'
import { openAccount } from '../custody/open.js'
import { insertSignatures } from '../db/lanes/signatures.js'
import { sumCosts } from '../db/lanes/gas.js'
import { lockNextNonce, storeSigned, type Lane } from '../db/lanes/signing.js'
import { lockTaken } from '../db/lanes/taking.js'
import { ServiceError } from '../domain/errors.js'
import { admit, lockContention } from './admit.js'
import { keepWithinDay } from './dailyLimit.js'
import { assertAffordable } from './gasBound.js'
import { assertBound, assertGenuine } from './genuine.js'
import { createOpener, signPrepared, treasuryContext } from './signing.js'
import type { Signed } from './payload.js'
import { planTransaction, signTransaction, type Planned } from './transaction.js'
import { assertFunded } from './treasury.js'
import type { Prepared } from './prepare.js'
import type { Operation } from '../db/lanes/operations.js'
import {
  asGas,
  type Keyring,
  type Means,
  type SenderBalance,
  type Round,
  type SignerTools,
} from './round.js'

export type Stored = { nonce: bigint; hash: string; operations: string[] }

type SignatureStoreTools = Pick<SignerTools, 'db' | 'keyring' | 'operationGasWei'>

/** An operation that could not be signed. */
export type Broken = { operation: Operation; error: unknown }

/**
 * Signs and stores one transaction for the operations that this signer still holds, in one database transaction: a
 * signature exists exactly when its row holds it.
 *
 * @returns `stored` is undefined when no operation was left to sign. `broken` are the operations that could not be
 *   signed; the others are stored without them.
 */
export async function signAndStore(
  tools: SignatureStoreTools & Pick<SignerTools, 'limits' | 'log'>,
  round: Round & Means,
  prepared: Prepared[],
): Promise<{ stored: Stored | undefined; broken: Broken[] }> {
  const { db, keyring, operationGasWei } = tools
  return db.transaction(async (trx) => {
    await lockContention(trx, round, prepared)
    const operations = prepared.map(({ operation }) => operation)
    const live = await lockTaken(trx, operations, keyring.taker)
    const locked = prepared.filter(({ operation }) => live.includes(operation))
    const admitted = await admit({ db: trx, keyring }, round, locked)
    const payments = admitted.filter((one) => one.kind === 'funding')
    await assertFunded(trx, round.client.chain.chainId, payments)
    const { signed, broken } = await signAll(keyring, round, admitted)
    const whole = admitted.filter(({ operation }) => signed.has(operation))
    const kept = await keepWithinDay(trx, tools, whole)
    const ours = kept.flatMap(({ operation }) => signed.get(operation) ?? [])
    if (ours.length === 0) return { stored: undefined, broken }
    const storing = { db: trx, keyring, operationGasWei }
    for (const one of ours) await assertBound(storing, round.client.chain, one)
    const stored = await storeTransaction(storing, round, ours)
    await insertSignatures(
      trx,
      ours.map(({ operation, payload }) => ({ operationId: operation.id, payload })),
    )
    return { stored, broken }
  })
}

async function signAll(keyring: Keyring, { client }: Round, prepared: Prepared[]) {
  const signed = new Map<Operation, Signed>()
  const broken: Broken[] = []
  const open = createOpener(keyring)
  for (const one of prepared) {
    try {
      signed.set(one.operation, await signPrepared(open, client.chain, one))
    } catch (error) {
      broken.push({ operation: one.operation, error })
    }
  }
  return { signed, broken }
}

/** Includes the stored signature of an operation in a new transaction of its own, after the old one was dropped. */
export async function storeAgain(
  { db, ...tools }: SignatureStoreTools,
  round: Round & Means,
  signed: Signed,
): Promise<Stored | undefined> {
  return db.transaction(async (trx) => {
    const [ours] = await lockTaken(trx, [signed.operation], tools.keyring.taker)
    if (!ours) return undefined
    const storing = { ...tools, db: trx }
    await assertGenuine(storing, round.client.chain, signed)
    return storeTransaction(storing, round, [signed])
  })
}

/** `db` is the transaction that has locked the operations. Their signatures are verified. */
async function storeTransaction(
  tools: SignatureStoreTools,
  round: Round & Means,
  carried: Signed[],
): Promise<Stored> {
  const planned = planTransaction(round, carried)
  const gas = carried.map(({ payload }) => BigInt(payload.gas))
  assertAffordable(tools, round, { unsigned: planned.request, gas })
  const operations = carried.map(({ operation }) => operation.id)
  const { nonce, hash } = await storePlanned(tools, round, { ...planned, operations })
  crashPoint('signer: before the commit')
  return { nonce, hash, operations }
}

/**
 * Assigns the next nonce of a sender to a transaction, signs it and stores it, in the caller's database transaction.
 *
 * @param planned - `operations`: ids of the included operations. `keptWei`: balance that the sender must keep.
 * @throws {ServiceError} RPC_ERROR that `unpaidGas` recognises, when the sender cannot pay it on top of its open
 *   transactions.
 */
export async function storePlanned(
  { db, keyring }: Pick<SignerTools, 'db' | 'keyring'>,
  { client: { chain }, lane, usedNonces, balanceWei, fees }: Round & SenderBalance,
  {
    request,
    l1FeeWei,
    operations,
    keptWei = 0n,
  }: Planned & { operations: string[]; keptWei?: bigint },
): Promise<{ id: bigint; nonce: bigint; hash: string }> {
  const nonce = await lockNextNonce(db, lane)
  if (usedNonces > nonce) {
    const message = `Sender ${lane.sender} has used more nonces on chain than the database holds.`
    throw new ServiceError('INTERNAL', message)
  }
  const { gasLimit } = request
  const valueWei = request.value ?? 0n
  const costWei = gasLimit * fees.maxWei + l1FeeWei + valueWei
  if (balanceWei - keptWei < costWei + (await sumCosts(db, lane, usedNonces))) {
    const message = `Sender ${lane.sender} on ${chain.name} is out of gas.`
    throw new ServiceError('RPC_ERROR', message, { unpaidGas: asGas(costWei, fees).toString() })
  }
  const sender = await openAccount(keyring.kek, lane.sealedKey, laneContext(lane))
  const { raw, hash } = signTransaction(sender, { ...request, nonce })
  const costs = { maxFeeWei: fees.maxWei, gasLimit, l1FeeWei, valueWei }
  const id = await storeSigned(db, lane, { nonce, hash, raw, ...costs, carried: operations })
  return { id, nonce, hash }
}

/** Gas that a sender could not pay for, if the error reports it. */
export function unpaidGas(error: unknown): bigint | undefined {
  const gas = error instanceof ServiceError ? error.details.unpaidGas : undefined
  return typeof gas === 'string' ? BigInt(gas) : undefined
}

/** The sealing context of a sender's key. The treasury's is the same on all chains. */
export const laneContext = (lane: Pick<Lane, 'chainId' | 'sender' | 'kekId' | 'purpose'>) =>
  lane.purpose === 'treasury'
    ? treasuryContext({ address: lane.sender, kekId: lane.kekId })
    : {
        purpose: 'lane' as const,
        owner: `${lane.chainId}/${lane.sender}`,
        accountId: '',
        address: lane.sender,
        kekId: lane.kekId,
      }
