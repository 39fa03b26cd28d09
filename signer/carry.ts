import { toQuantity } from 'ethers'
import { DELEGATED_CODE, ENTRY_POINT_ADDRESS } from '../chains/registry.js'
import { FAILURES_BEFORE_QUARANTINE, returnUncarried } from '../db/lanes/carrying.js'
import { getWalletSecret } from '../db/keys.js'
import { findSignature } from '../db/lanes/signatures.js'
import { returnOperation } from '../db/lanes/signing.js'
import { ServiceError } from '../domain/errors.js'
import { isKeySpent } from '../protocols/spentKeys.js'
import { readSpentSince } from './spentSince.js'
import { assertGenuine, assertOwn } from './genuine.js'
import { signCancellation } from './signing.js'
import { HOUR_MS } from '../durations.js'
import type { Payload, Signed } from './payload.js'
import { findFailure } from './simulate.js'
import { readMeans, takenBy, type Round, type SignerTools } from './round.js'
import { storeAgain } from './store.js'
import { callOf } from './transaction.js'
import type { Operation } from '../db/lanes/operations.js'

/** After this many reverts or refusals a payment is cancelled: the treasury cannot pay it. */
const PAYMENT_TRIES = 3

/**
 * Resubmits an operation whose transaction was dropped, if its key is unused and the transaction would succeed.
 * Retries of a failing one back off. A payment that stays impossible is cancelled on the chain. The chain executes
 * either the payment or the cancellation, so the operation ends by its own log like every signed operation.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer.
 */
export async function carryAgain(
  tools: SignerTools,
  round: Round,
  operation: Operation,
): Promise<void> {
  const { log, keyring } = tools
  const { chain } = round.client
  const facts = { chain: chain.name, lane: round.lane.sender, operation: operation.id }
  const signed = await findVerified(tools, round, operation)
  if (!signed) return
  const { address: treasury } = keyring.treasury
  if (await isKeySpent(round.client, { ...operation, wallet: signed.wallet, treasury })) {
    await lookUp(tools, round, operation)
    return
  }
  // A failing inner call would waste the key. After enough failures it is sent anyway, so that its own log ends it.
  const isPatient = operation.carryFailures < FAILURES_BEFORE_QUARANTINE
  const reason =
    (await findRevert(round, signed)) ?? (isPatient && (await findInnerFailure(round, signed)))
  // Logged once: this attempt raises the count or ends the operation.
  if (operation.carryFailures === FAILURES_BEFORE_QUARANTINE) {
    log.error({ ...facts, reason: operation.message }, 'operation quarantined')
  }
  if (reason) {
    const message = `The operation cannot be included now: ${reason}`
    log.warn({ ...facts, reason }, 'operation not resubmitted')
    await returnUncarried(tools.db, takenBy(tools, operation), { message })
    return
  }
  const stored = await storeAgain(tools, { ...round, ...(await readMeans(round)) }, signed)
  if (stored) log.warn({ ...facts, ...stored }, 'operation resubmitted')
}

/** Releases an operation that is already executed. The relayer finds its log. */
export async function lookUp(
  tools: SignerTools,
  { client }: Round,
  operation: Operation,
): Promise<void> {
  const spentSince = await readSpentSince(tools.db, client, operation)
  const message = 'The operation is already executed. The relayer searches for its log.'
  const facts = { chain: client.chain.name, operation: operation.id }
  tools.log.warn(facts, 'operation found executed')
  await returnUncarried(tools.db, takenBy(tools, operation), { message, spentSince })
}

/** The payload to include: the stored signature of the operation, or its cancellation. */
async function findVerified(
  tools: SignerTools,
  round: Round,
  operation: Operation,
): Promise<Signed | undefined> {
  const { db, keyring, log } = tools
  const { chain } = round.client
  try {
    const secret = await getWalletSecret(db, operation.walletId)
    const { address: wallet } = assertOwn(operation, secret)
    const payload = ((await findSignature(db, operation.id)) ?? {}) as Payload
    const signed = { operation, wallet, payload }
    await assertGenuine({ db, keyring }, chain, signed)
    const isImpossible = operation.kind === 'fund' && operation.carryFailures >= PAYMENT_TRIES
    return isImpossible
      ? { ...signed, payload: await signCancellation(keyring, chain, operation) }
      : signed
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'INTERNAL')) throw error
    const facts = { err: error, chain: chain.name, operation: operation.id }
    log.error(facts, 'stored signature rejected')
    // A tampered row stays tampered: retry once an hour only.
    await returnOperation(db, takenBy(tools, operation), HOUR_MS)
    return undefined
  }
}

/** Why the transaction would revert; undefined when it would succeed. */
function findRevert(
  { client, lane, head }: Round,
  { wallet, payload }: Signed,
): Promise<string | undefined> {
  const call = { from: lane.sender, ...callOf(lane, [{ payload }]) }
  const overrides = payload.authorization ? { [wallet]: { code: DELEGATED_CODE } } : {}
  return findFailure(client, call, [toQuantity(head), overrides])
}

/** Why the wallet's inner call would fail; undefined when it would succeed. The EntryPoint does not report it. */
async function findInnerFailure(
  { client, head }: Round,
  { wallet, payload }: Signed,
): Promise<string | undefined> {
  const data = payload.userOperation?.callData
  if (!data) return undefined
  const call = { from: ENTRY_POINT_ADDRESS, to: wallet, data }
  return findFailure(client, call, [toQuantity(head), { [wallet]: { code: DELEGATED_CODE } }])
}
