import { faultPoint } from '../runtime/faultPoints.js'
import { openAccount } from '../custody/open.js'
import { insertSignatures } from '../operations/signing/signatures.js'
import { sumCosts } from '../operations/signing/senderGas.js'
import { lockNextNonce, storeSigned, type Sender } from '../operations/signing/signing.js'
import { lockClaimed } from '../operations/signing/claiming.js'
import { ServiceError } from '../domain/errors.js'
import { admit, lockContention } from './check/admit.js'
import { keepWithinDay } from './check/dailyLimit.js'
import { assertAffordable } from './check/gasBound.js'
import { assertBound, verifyStoredSignature } from './check/verifySignature.js'
import { createOpener, signDelegation, signPrepared, treasuryContext } from './signing.js'
import type { Signed } from './build/payload.js'
import { planTransaction, signTransaction, type Planned } from './build/transaction.js'
import { assertFunded } from './senders/treasury.js'
import type { Prepared } from './prepare.js'
import type { WalletSecret } from '../db/keys.js'
import type { Operation } from '../operations/operations.js'
import {
  asGas,
  type Keyring,
  type SenderState,
  type SenderBalance,
  type SigningContext,
  type SignerTools,
} from './signingContext.js'

export type Stored = { nonce: bigint; hash: string; operations: string[] }

type SignatureStoreTools = Pick<SignerTools, 'db' | 'keyring' | 'operationGasWei'>

/** An operation that could not be signed. */
export type Broken = { operation: Operation; error: unknown }

/**
 * Signs and stores one transaction for the operations that this signer still holds, in one database transaction: a
 * signature exists exactly when its row holds it.
 *
 * @returns `stored` is undefined when no operation was left to sign. `broken` are the operations that could not be
 *   signed; the others are stored without them. `unlocked` may not be signed now: they are paused or not ours.
 */
export async function signAndStore(
  tools: SignatureStoreTools & Pick<SignerTools, 'limits' | 'log'>,
  context: SigningContext & SenderState,
  prepared: Prepared[],
): Promise<{ stored: Stored | undefined; broken: Broken[]; unlocked: Operation[] }> {
  const { db, keyring, operationGasWei } = tools
  return db.transaction(async (trx) => {
    await lockContention(trx, context, prepared)
    const operations = prepared.map(({ operation }) => operation)
    const live = await lockClaimed(trx, operations, keyring.leaseOwner)
    const locked = prepared.filter(({ operation }) => live.includes(operation))
    const unlocked = operations.filter((operation) => !live.includes(operation))
    const admitted = await admit({ db: trx, keyring }, context, locked)
    const payments = admitted.filter((one) => one.kind === 'funding')
    await assertFunded(trx, context.client.chain.chainId, payments)
    const { signed, broken } = await signAll(keyring, context, admitted)
    const whole = admitted.filter(({ operation }) => signed.has(operation))
    const kept = await keepWithinDay(trx, tools, whole)
    const ours = kept.flatMap(({ operation }) => signed.get(operation) ?? [])
    if (ours.length === 0) return { stored: undefined, broken, unlocked }
    const storing = { db: trx, keyring, operationGasWei }
    for (const one of ours) await assertBound(storing, context.client.chain, one)
    const stored = await storeTransaction(storing, context, ours)
    await insertSignatures(
      trx,
      ours.map(({ operation, payload }) => ({ operationId: operation.id, payload })),
    )
    return { stored, broken, unlocked }
  })
}

async function signAll(keyring: Keyring, { client }: SigningContext, prepared: Prepared[]) {
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

/**
 * Includes the stored signature of an operation in a new transaction of its own, after the old one was dropped.
 *
 * @param renewal - Key of the wallet and its account nonce, when the stored delegation can no longer work.
 */
export async function storeAgain(
  { db, ...tools }: SignatureStoreTools,
  context: SigningContext & SenderState,
  { signed, renewal }: { signed: Signed; renewal: DelegationRenewal | undefined },
): Promise<Stored | undefined> {
  const { chain } = context.client
  return db.transaction(async (trx) => {
    const [ours] = await lockClaimed(trx, [signed.operation], tools.keyring.leaseOwner)
    if (!ours) return undefined
    const storing = { ...tools, db: trx }
    const authorization = renewal && (await signDelegation(tools.keyring, chain, renewal))
    const payload = { ...signed.payload, ...(authorization && { authorization }) }
    const renewed = { ...signed, payload }
    await verifyStoredSignature(storing, chain, renewed)
    return storeTransaction(storing, context, [renewed])
  })
}

export type DelegationRenewal = { secret: WalletSecret; nonce: bigint }

/** `db` is the transaction that has locked the operations. Their signatures are verified. */
async function storeTransaction(
  tools: SignatureStoreTools,
  context: SigningContext & SenderState,
  included: Signed[],
): Promise<Stored> {
  const planned = planTransaction(context, included)
  const gas = included.map(({ payload }) => BigInt(payload.gas))
  assertAffordable(tools, context, { unsigned: planned.request, gas })
  const operations = included.map(({ operation }) => operation.id)
  const { nonce, hash } = await storePlanned(tools, context, { ...planned, operations })
  faultPoint('signer: before the commit')
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
  { client: { chain }, sender, usedNonces, balanceWei, fees }: SigningContext & SenderBalance,
  {
    request,
    l1FeeWei,
    operations,
    keptWei = 0n,
  }: Planned & { operations: string[]; keptWei?: bigint },
): Promise<{ id: bigint; nonce: bigint; hash: string }> {
  const nonce = await lockNextNonce(db, sender)
  if (usedNonces > nonce) {
    const message = `Sender ${sender.address} has used more nonces on chain than the database holds.`
    throw new ServiceError('INTERNAL', message)
  }
  const { gasLimit } = request
  const valueWei = request.value ?? 0n
  const costWei = gasLimit * fees.maxWei + l1FeeWei + valueWei
  if (balanceWei - keptWei < costWei + (await sumCosts(db, sender, usedNonces))) {
    const message = `Sender ${sender.address} on ${chain.name} is out of gas.`
    throw new ServiceError('RPC_ERROR', message, { unpaidGas: asGas(costWei, fees).toString() })
  }
  const account = await openAccount(keyring.kek, sender.sealedKey, senderKeyContext(sender))
  keyring.stopFile.assertAbsent()
  const { raw, hash } = signTransaction(account, { ...request, nonce })
  const costs = { maxFeeWei: fees.maxWei, gasLimit, l1FeeWei, valueWei }
  const id = await storeSigned(db, sender, { nonce, hash, raw, ...costs, included: operations })
  return { id, nonce, hash }
}

/** Gas that a sender could not pay for, if the error reports it. */
export function unpaidGas(error: unknown): bigint | undefined {
  const gas = error instanceof ServiceError ? error.details.unpaidGas : undefined
  return typeof gas === 'string' ? BigInt(gas) : undefined
}

/** The sealing context of a sender's key. The treasury's is the same on all chains. */
export const senderKeyContext = (
  sender: Pick<Sender, 'chainId' | 'address' | 'kekId' | 'purpose'>,
) =>
  sender.purpose === 'treasury'
    ? treasuryContext({ address: sender.address, kekId: sender.kekId })
    : {
        purpose: 'sender' as const,
        owner: `${sender.chainId}/${sender.address}`,
        accountId: '',
        address: sender.address,
        kekId: sender.kekId,
      }
