import { toQuantity } from 'ethers'
import { DELEGATED_CODE, ENTRY_POINT_ADDRESS } from '../../evm/registry.js'
import {
  FAILURES_BEFORE_QUARANTINE,
  MOST_REVERTS,
  deferResubmission,
} from '../../operations/signing/inclusion.js'
import { getWalletSecret, type WalletSecret } from '../../db/keys.js'
import { findSignature } from '../../operations/signing/signatures.js'
import { returnOperation } from '../../operations/signing/signing.js'
import { ServiceError } from '../../domain/errors.js'
import { isKeySpent } from '../../evm/logs/spentKeys.js'
import { readSpentSince } from '../check/spentSince.js'
import { verifyStoredSignature, assertOwn } from '../check/verifySignature.js'
import { signCancellation } from '../signing.js'
import { HOUR_MS } from '../../runtime/durations.js'
import type { Payload, Signed } from '../build/payload.js'
import { findFailure, readAuthorizationNonce } from '../check/simulate.js'
import {
  readSenderState,
  claimedBy,
  type SigningContext,
  type SignerTools,
} from '../signingContext.js'
import { storeAgain, type DelegationRenewal } from '../store.js'
import { callOf } from '../build/transaction.js'
import type { Operation } from '../../operations/operations.js'

/** After this many reverts or refusals a payment is cancelled: the treasury cannot pay it. */
const PAYMENT_TRIES = 3

/**
 * Resubmits an operation whose transaction was dropped, if its key is unused and the transaction would succeed. A
 * delegation that no longer works is signed again with the wallet's account nonce. Reverts cost gas and are bounded.
 * Retries of a failing one back off. A payment that stays impossible is cancelled on the chain. The chain executes
 * either the payment or the cancellation, so the operation ends by its own log like every signed operation.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer.
 */
export async function resubmit(
  tools: SignerTools,
  context: SigningContext,
  operation: Operation,
): Promise<void> {
  const { log, keyring } = tools
  const { chain } = context.client
  const facts = { chain: chain.name, sender: context.sender.address, operation: operation.id }
  const signed = await findVerified(tools, context, operation)
  if (!signed) return
  const { address: treasury } = keyring.treasury
  if (await isKeySpent(context.client, { ...operation, wallet: signed.wallet, treasury })) {
    await lookUp(tools, context, operation)
    return
  }
  // A failing inner call would waste the key. After enough failures it is sent anyway, so that its own log ends it.
  const isPatient = operation.inclusionFailures < FAILURES_BEFORE_QUARANTINE
  const delegation = await readDelegation(context, signed)
  const reason =
    operation.reverts >= MOST_REVERTS
      ? `its transaction has reverted ${operation.reverts} times. An operator must find out why`
      : (delegation.obstacle ??
        (await findRevert(context, signed)) ??
        (isPatient && (await findInnerFailure(context, signed))))
  // Logged once: this attempt raises the count or ends the operation.
  if (operation.inclusionFailures === FAILURES_BEFORE_QUARANTINE) {
    log.error({ ...facts, reason: operation.message }, 'operation quarantined')
  }
  if (reason) {
    const message = `The operation cannot be included now: ${reason}`
    log.warn({ ...facts, reason }, 'operation not resubmitted')
    await deferResubmission(tools.db, claimedBy(tools, operation), { message })
    return
  }
  const stored = await storeAgain(
    tools,
    { ...context, ...(await readSenderState(context)) },
    { signed, renewal: delegation.renewal },
  )
  if (stored) log.warn({ ...facts, ...stored }, 'operation resubmitted')
  else await returnOperation(tools.db, claimedBy(tools, operation), 0)
}

type DelegationState = { renewal?: DelegationRenewal | undefined; obstacle?: string }

/** A new delegation for a stored signature whose own no longer works, or why none can work. */
async function readDelegation(
  context: SigningContext,
  { wallet, payload, secret }: Verified,
): Promise<DelegationState> {
  if (!payload.userOperation) return {}
  const nonce = await readAuthorizationNonce(context, wallet)
  if (typeof nonce === 'object') return { obstacle: nonce.reason }
  const isUsable = nonce === undefined || payload.authorization?.nonce === nonce.toString()
  return isUsable ? {} : { renewal: { secret, nonce } }
}

/** Releases an operation that is already executed. The relayer finds its log. */
export async function lookUp(
  tools: SignerTools,
  { client }: SigningContext,
  operation: Operation,
): Promise<void> {
  const spentSince = await readSpentSince(tools.db, client, operation)
  const message = 'The operation is already executed. The relayer searches for its log.'
  const facts = { chain: client.chain.name, operation: operation.id }
  tools.log.warn(facts, 'operation found executed')
  await deferResubmission(tools.db, claimedBy(tools, operation), { message, spentSince })
}

type Verified = Signed & { secret: WalletSecret }

/** The payload to include: the stored signature of the operation, or its cancellation. */
async function findVerified(
  tools: SignerTools,
  context: SigningContext,
  operation: Operation,
): Promise<Verified | undefined> {
  const { db, keyring, log } = tools
  const { chain } = context.client
  try {
    const secret = assertOwn(operation, await getWalletSecret(db, operation.walletId))
    const { address: wallet } = secret
    const payload = ((await findSignature(db, operation.id)) ?? {}) as Payload
    const signed = { operation, wallet, payload, secret }
    await verifyStoredSignature({ db, keyring }, chain, signed)
    const isImpossible = operation.kind === 'fund' && operation.inclusionFailures >= PAYMENT_TRIES
    return isImpossible
      ? { ...signed, payload: await signCancellation(keyring, chain, operation) }
      : signed
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'INTERNAL')) throw error
    const facts = { err: error, chain: chain.name, operation: operation.id }
    log.error(facts, 'stored signature rejected')
    // A tampered row stays tampered: retry once an hour only.
    await returnOperation(db, claimedBy(tools, operation), HOUR_MS)
    return undefined
  }
}

/** Why the transaction would revert; undefined when it would succeed. */
function findRevert(
  { client, sender, head }: SigningContext,
  { wallet, payload }: Signed,
): Promise<string | undefined> {
  const call = { from: sender.address, ...callOf(sender, [{ payload }]) }
  // The transaction delegates the wallet where it is not.
  const overrides = payload.userOperation ? { [wallet]: { code: DELEGATED_CODE } } : {}
  return findFailure(client, call, [toQuantity(head), overrides])
}

/** Why the wallet's inner call would fail; undefined when it would succeed. The EntryPoint does not report it. */
async function findInnerFailure(
  { client, head }: SigningContext,
  { wallet, payload }: Signed,
): Promise<string | undefined> {
  const data = payload.userOperation?.callData
  if (!data) return undefined
  const call = { from: ENTRY_POINT_ADDRESS, to: wallet, data }
  return findFailure(client, call, [toQuantity(head), { [wallet]: { code: DELEGATED_CODE } }])
}
