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

/** A payment that was reverted or refused so often is taken back: the treasury cannot pay it. */
const PAYMENT_TRIES = 3

/**
 * Carries an operation again whose transaction died, if its key is still free and the transaction would pass.
 * What would not is tried less and less often. A payment that stays impossible is taken back on the chain,
 * which executes only one of the two, so that it ends by its own log like everything that is signed.
 *
 * @throws {ServiceError} RPC_ERROR when the node did not answer.
 */
export async function carryAgain(
  tools: SignerTools,
  round: Round,
  operation: Operation,
): Promise<void> {
  const { log, keyring } = tools
  const { chain } = round.client
  const facts = { chain: chain.name, lane: round.lane.sender, operation: operation.id }
  const signed = await findGenuine(tools, round, operation)
  if (!signed) return
  const { address: treasury } = keyring.treasury
  if (await isKeySpent(round.client, { ...operation, wallet: signed.wallet, treasury })) {
    await lookUp(tools, round, operation)
    return
  }
  // What would fail inside spends its key for nothing. But nothing waits for ever: at last it ends by its own log.
  const isPatient = operation.carryFailures < FAILURES_BEFORE_QUARANTINE
  const reason =
    (await findRevert(round, signed)) ?? (isPatient && (await findInnerFailure(round, signed)))
  // Told once: whatever comes of this try, there is one failure more, or none.
  if (operation.carryFailures === FAILURES_BEFORE_QUARANTINE) {
    log.error({ ...facts, reason: operation.message }, 'cannot be carried, in quarantine')
  }
  if (reason) {
    const message = `It cannot be carried now: ${reason}`
    log.warn({ ...facts, reason }, 'not carried again')
    await returnUncarried(tools.db, takenBy(tools, operation), { message })
    return
  }
  const stored = await storeAgain(tools, { ...round, ...(await readMeans(round)) }, signed)
  if (stored) log.warn({ ...facts, ...stored }, 'carrier was lost, signed again')
}

/** Gives back an operation that somebody has executed: the lanes look its log up. */
export async function lookUp(
  tools: SignerTools,
  { client }: Round,
  operation: Operation,
): Promise<void> {
  const spentSince = await readSpentSince(tools.db, client, operation)
  const message = 'It was executed already, its log is looked up.'
  const facts = { chain: client.chain.name, operation: operation.id }
  tools.log.warn(facts, 'executed already, its log is looked up')
  await returnUncarried(tools.db, takenBy(tools, operation), { message, spentSince })
}

/** What a lane is to carry: what was signed for the operation, or that this is taken back. */
async function findGenuine(
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
    log.error(facts, 'what is stored as signed is not ours, never carried')
    // A row that was tampered with does not mend itself.
    await returnOperation(db, takenBy(tools, operation), HOUR_MS)
    return undefined
  }
}

/** Why the chain would revert the transaction; undefined when it would not. */
function findRevert(
  { client, lane, head }: Round,
  { wallet, payload }: Signed,
): Promise<string | undefined> {
  const call = { from: lane.sender, ...callOf(lane, [{ payload }]) }
  const overrides = payload.authorization ? { [wallet]: { code: DELEGATED_CODE } } : {}
  return findFailure(client, call, [toQuantity(head), overrides])
}

/** Why the call of the wallet inside would fail, which the EntryPoint does not tell; undefined when it would not. */
async function findInnerFailure(
  { client, head }: Round,
  { wallet, payload }: Signed,
): Promise<string | undefined> {
  const data = payload.userOperation?.callData
  if (!data) return undefined
  const call = { from: ENTRY_POINT_ADDRESS, to: wallet, data }
  return findFailure(client, call, [toQuantity(head), { [wallet]: { code: DELEGATED_CODE } }])
}
