import { refuseOperation, returnOperation, type Refusal } from '../db/lanes/signing.js'
import { ServiceError } from '../domain/errors.js'
import { reasonOf } from '../domain/waiting.js'
import { keptRefusal, takenBy, type SignerTools } from './round.js'
import type { Operation } from '../db/lanes/operations.js'

/** Wait after a failure of the node. */
export const RETRY_MS = 2_000
/** Wait after a refusal that no later block will change. An operator has to look. */
const REFUSED_MS = 60_000

export const deferral = (code: string, message: string, retryAfterMs: number): Refusal => ({
  state: 'deferred',
  code,
  message,
  retryAfterMs,
})

/** Nothing was signed: a queued row says why, a signed one waits without changing its state. */
export async function giveBack(
  tools: SignerTools,
  operation: Operation,
  error: unknown,
): Promise<void> {
  if (operation.state === 'signed') {
    await returnOperation(tools.db, takenBy(tools, operation), RETRY_MS)
    return
  }
  const known = error instanceof ServiceError ? error : undefined
  // A refusal by the policy or by a lane's state does not pass by itself.
  const retryAfterMs = known?.code === 'INTERNAL' ? REFUSED_MS : RETRY_MS
  const message = known?.message ?? 'Unexpected failure in the signer.'
  const code = known?.code ?? 'INTERNAL'
  const waitsFor = reasonOf(code, known?.details.waitsFor)
  const refusal = { ...deferral(code, message, retryAfterMs), waitsFor }
  await refuse(tools, operation, { ...refusal, ...keptRefusal(operation) })
}

/** Never throws: what cannot be given back comes free when its lease ends. */
export async function giveAllBack(tools: SignerTools, operations: Operation[], error: unknown) {
  const given = await Promise.allSettled(operations.map((one) => giveBack(tools, one, error)))
  for (const one of given) {
    if (one.status === 'rejected') tools.log.warn({ err: one.reason as unknown }, 'not given back')
  }
}

export function refuse(tools: SignerTools, operation: Operation, refusal: Refusal): Promise<void> {
  return refuseOperation(tools.db, takenBy(tools, operation), refusal)
}
