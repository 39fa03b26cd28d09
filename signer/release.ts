import {
  refuseOperation,
  returnOperation,
  type SigningRefusal,
} from '../operations/signing/signing.js'
import { LOST_LEASES_BEFORE_ALONE } from '../operations/signing/claiming.js'
import { ServiceError } from '../domain/errors.js'
import { MINTED, failureCodes } from '../domain/intent/operation.js'
import { reasonOf } from '../domain/intent/waiting.js'
import { lookUp } from './senders/resubmit.js'
import { atMost } from '../runtime/timeout.js'
import { prepare, type Ordered, type Prepared } from './prepare.js'
import { keptRefusal, claimedBy, type SigningContext, type SignerTools } from './signingContext.js'
import { isRefusalConfirmed } from './check/confirmRefusal.js'
import { readSpentSince } from './check/spentSince.js'
import { HOUR_MS, MINUTE_MS, RETRY_MS } from '../runtime/durations.js'
import type { Operation } from '../operations/operations.js'

/** An operation that takes longer is released within its lease. */
const PREPARE_MS = 5_000
/** After this many leases that expire without a result, the operation is assumed to crash its signer. */
const LOST_LEASES = 5

/** Prepares an operation. Never throws: it releases an operation that may not be signed, and returns undefined. */
export async function prepareOrRelease(
  tools: SignerTools,
  context: SigningContext,
  ordered: Ordered,
): Promise<Prepared | undefined> {
  const { operation } = ordered
  const { name } = context.client.chain
  try {
    if (operation.lostLeases >= LOST_LEASES) return await quarantine(tools, operation)
    if (context.head < operation.minBlock) {
      throw new ServiceError('RPC_ERROR', `The node of ${name} is behind.`)
    }
    const result = await atMost(prepare(tools, context, ordered), PREPARE_MS)
    if (!result) throw new ServiceError('RPC_ERROR', `${name} answers too slowly.`)
    if (result.kind === 'spent') return await releaseSpent(tools, context, operation)
    if (result.kind === 'refused') {
      return await releaseRefused(tools, context, { ...ordered, reason: result.reason })
    }
    return result
  } catch (error) {
    tools.log.warn({ err: error, operation: operation.id }, 'operation not prepared')
    await releaseAll(tools, [operation], error)
    return undefined
  }
}

/** Nothing was signed. A queued row stores the reason; a signed row waits in its state. */
export async function release(
  tools: SignerTools,
  operation: Operation,
  error: unknown,
): Promise<void> {
  if (operation.state === 'signed') {
    await returnOperation(tools.db, claimedBy(tools, operation), RETRY_MS)
    return
  }
  const known = error instanceof ServiceError ? error : undefined
  // A refusal by the policy or by a sender's state stays until an operator acts.
  const retryAfterMs = known?.code === 'INTERNAL' ? MINUTE_MS : RETRY_MS
  const message = known?.message ?? 'Unexpected failure in the signer.'
  const code = known?.code ?? 'INTERNAL'
  const waitsFor = reasonOf(code, known?.details.waitsFor)
  const refusal = { ...deferral(code, message, retryAfterMs), waitsFor }
  await refuse(tools, operation, { ...refusal, ...keptRefusal(operation) })
}

/** Never throws: an operation that cannot be released is free when its lease expires. */
export async function releaseAll(
  tools: SignerTools,
  operations: Operation[],
  error: unknown,
): Promise<void> {
  const released = await Promise.allSettled(operations.map((one) => release(tools, one, error)))
  for (const one of released) {
    if (one.status === 'rejected') {
      tools.log.warn({ err: one.reason as unknown }, 'operation not released')
    }
  }
}

/** After an hour the operation is retried alone. */
async function quarantine(tools: SignerTools, operation: Operation): Promise<undefined> {
  const message = 'The operation was claimed five times without a result.'
  const refusal = deferral('INTERNAL', message, HOUR_MS)
  await refuse(tools, operation, { ...refusal, lostLeases: LOST_LEASES_BEFORE_ALONE })
  tools.log.error({ operation: operation.id }, 'operation quarantined')
}

async function releaseSpent(
  tools: SignerTools,
  context: SigningContext,
  operation: Operation,
): Promise<undefined> {
  if (operation.kind !== 'mint') {
    await lookUp(tools, context, operation)
    return
  }
  const message = 'The message is already minted. The relayer searches for its log.'
  const spentSince = await readSpentSince(tools.db, context.client, operation)
  await refuse(tools, operation, { ...deferral(MINTED, message, RETRY_MS), spentSince })
}

async function releaseRefused(
  tools: SignerTools,
  context: SigningContext,
  refused: Ordered & { reason: string },
): Promise<undefined> {
  const { operation, reason } = refused
  const { head } = context
  // This node may not have seen the effect that the call needs: a refusal is final only at a later block.
  const again = operation.refusedBlock !== null && operation.refusedBlock < head
  // Burned money must be minted: a mint is retried without a limit, with a renewed attestation.
  const mayEnd = again && operation.kind !== 'mint'
  const isFinal = mayEnd && (await isRefusalConfirmed(tools, context, refused))
  if (mayEnd && !isFinal) {
    const facts = { chain: context.client.chain.name, operation: operation.id }
    tools.log.warn(facts, 'refusal not confirmed')
  }
  await refuse(tools, operation, {
    state: isFinal ? 'rejected' : 'deferred',
    code: failureCodes[operation.kind],
    message: `The call would fail: ${reason}`,
    retryAfterMs: RETRY_MS,
    refusedBlock: operation.refusedBlock ?? head,
  })
}

const deferral = (code: string, message: string, retryAfterMs: number): SigningRefusal => ({
  state: 'deferred',
  code,
  message,
  retryAfterMs,
})

const refuse = (tools: SignerTools, operation: Operation, refusal: SigningRefusal): Promise<void> =>
  refuseOperation(tools.db, claimedBy(tools, operation), refusal)
