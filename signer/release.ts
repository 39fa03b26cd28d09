import { refuseOperation, returnOperation, type SigningRefusal } from '../db/lanes/signing.js'
import { LEASES_IN_COMPANY } from '../db/lanes/taking.js'
import { ServiceError } from '../domain/errors.js'
import { MINTED, failureCodes } from '../domain/operation.js'
import { reasonOf } from '../domain/waiting.js'
import { lookUp } from './carry.js'
import { atMost } from '../timeout.js'
import { prepare, type Ordered, type Prepared } from './prepare.js'
import { keptRefusal, takenBy, type Round, type SignerTools } from './round.js'
import { isRefusedElsewhere } from './secondOpinion.js'
import { readSpentSince } from './spentSince.js'
import { HOUR_MS, MINUTE_MS, RETRY_MS } from '../durations.js'
import type { Operation } from '../db/lanes/operations.js'

/** What is not ready by then is released, within its lease. */
const PREPARE_MS = 5_000
/** An operation whose leases keep ending without a verdict breaks its signer. */
const LOST_LEASES = 5

/** Prepares an operation. Never throws: what may not be signed is released with the reason, and undefined comes back. */
export async function prepareOrRelease(
  tools: SignerTools,
  round: Round,
  ordered: Ordered,
): Promise<Prepared | undefined> {
  const { operation } = ordered
  const { name } = round.client.chain
  try {
    if (operation.lostLeases >= LOST_LEASES) return await quarantine(tools, operation)
    if (round.head < operation.minBlock) {
      throw new ServiceError('RPC_ERROR', `The node of ${name} is behind.`)
    }
    const result = await atMost(prepare(tools, round, ordered), PREPARE_MS)
    if (!result) throw new ServiceError('RPC_ERROR', `${name} answers too slowly.`)
    if (result.kind === 'spent') return await releaseSpent(tools, round, operation)
    if (result.kind === 'refused') {
      return await releaseRefused(tools, round, { ...ordered, reason: result.reason })
    }
    return result
  } catch (error) {
    tools.log.warn({ err: error, operation: operation.id }, 'operation not prepared')
    await releaseAll(tools, [operation], error)
    return undefined
  }
}

/** Nothing was signed: a queued row says why, a signed one waits without changing its state. */
export async function release(
  tools: SignerTools,
  operation: Operation,
  error: unknown,
): Promise<void> {
  if (operation.state === 'signed') {
    await returnOperation(tools.db, takenBy(tools, operation), RETRY_MS)
    return
  }
  const known = error instanceof ServiceError ? error : undefined
  // A refusal by the policy or by a lane's state stays until an operator looks.
  const retryAfterMs = known?.code === 'INTERNAL' ? MINUTE_MS : RETRY_MS
  const message = known?.message ?? 'Unexpected failure in the signer.'
  const code = known?.code ?? 'INTERNAL'
  const waitsFor = reasonOf(code, known?.details.waitsFor)
  const refusal = { ...deferral(code, message, retryAfterMs), waitsFor }
  await refuse(tools, operation, { ...refusal, ...keptRefusal(operation) })
}

/** Never throws: what cannot be released is free when its lease ends. */
export async function releaseAll(
  tools: SignerTools,
  operations: Operation[],
  error: unknown,
): Promise<void> {
  const released = await Promise.allSettled(operations.map((one) => release(tools, one, error)))
  for (const one of released) {
    if (one.status === 'rejected') tools.log.warn({ err: one.reason as unknown }, 'not released')
  }
}

/** After the hour it gets another chance, still alone. */
async function quarantine(tools: SignerTools, operation: Operation): Promise<undefined> {
  const message = 'It was taken five times without a verdict.'
  const refusal = deferral('INTERNAL', message, HOUR_MS)
  await refuse(tools, operation, { ...refusal, lostLeases: LEASES_IN_COMPANY })
  tools.log.error({ operation: operation.id }, 'operation in quarantine')
}

async function releaseSpent(
  tools: SignerTools,
  round: Round,
  operation: Operation,
): Promise<undefined> {
  if (operation.kind !== 'mint') {
    await lookUp(tools, round, operation)
    return
  }
  const message = 'Somebody has minted it already, its log is looked up.'
  const spentSince = await readSpentSince(tools.db, round.client, operation)
  await refuse(tools, operation, { ...deferral(MINTED, message, RETRY_MS), spentSince })
}

async function releaseRefused(
  tools: SignerTools,
  round: Round,
  refused: Ordered & { reason: string },
): Promise<undefined> {
  const { operation, reason } = refused
  const { head } = round
  // One refusal may be an effect that this node has not seen yet: only a later block makes it final.
  const again = operation.refusedBlock !== null && operation.refusedBlock < head
  // What was burned comes out: a mint is tried for ever, with a message that is attested again.
  const mayEnd = again && operation.kind !== 'mint'
  const isOver = mayEnd && (await isRefusedElsewhere(tools, round, refused))
  if (mayEnd && !isOver) {
    const facts = { chain: round.client.chain.name, operation: operation.id }
    tools.log.warn(facts, 'refused by one endpoint only, tried again')
  }
  await refuse(tools, operation, {
    state: isOver ? 'rejected' : 'deferred',
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
  refuseOperation(tools.db, takenBy(tools, operation), refusal)
