import { invalidRequest, type ServiceError } from './errors.js'
import type { ExecutionPlan, Step } from './intent.js'

/** Failures that a caller may have simulated on a test network, and the step at which each happens. */
const stepOfFault = {
  BRIDGE_FAILED: 'bridge',
  BRIDGE_TIMEOUT: 'bridge',
  SWAP_FAILED: 'swap',
  DEPOSIT_FAILED: 'deposit',
  WITHDRAW_FAILED: 'withdraw',
  NETWORK_ERROR: undefined,
  RPC_ERROR: undefined,
  INSUFFICIENT_FUNDS: undefined,
} as const satisfies Record<string, Step['type'] | undefined>

export type Fault = keyof typeof stepOfFault
export const faults = Object.keys(stepOfFault) as Fault[]

/** Where money is play money. Named one by one: a network that is added later is none of them. */
const testNetworks = ['devnet', 'testnet']

/**
 * The failure that the caller's metadata asks for, undefined when it asks for none.
 *
 * @param network - Of this deployment.
 * @throws {ServiceError} INVALID_REQUEST where money is real, or when there is no such failure.
 */
export function acceptFault(
  metadata: Record<string, unknown> | undefined,
  network: string,
): Fault | undefined {
  if (metadata?.simulate !== undefined && !testNetworks.includes(network)) {
    throw refusal('is for test networks only')
  }
  return faultIn(metadata)
}

/**
 * The failure that an accepted intent's metadata asks for, undefined when it asks for none.
 *
 * @throws {ServiceError} INVALID_REQUEST when there is no such failure.
 */
export function faultIn(metadata: Record<string, unknown> | null | undefined): Fault | undefined {
  const wanted = metadata?.simulate
  if (wanted === undefined) return undefined
  const fault = faults.find((code) => code === wanted)
  if (fault) return fault
  throw refusal(`must be one of ${faults.join(', ')}`)
}

/** Throws INVALID_REQUEST when no step of the plan can fail in this way. */
export function assertFaultPossible(fault: Fault, { steps }: ExecutionPlan): void {
  const type = stepOfFault[fault]
  if (type === undefined || steps.some((step) => step.type === type)) return
  throw refusal(`cannot be ${fault}: the plan has no ${type} step`)
}

/** True when the step shall fail before anything of it is sent. */
export function isFaultOf(
  fault: Fault,
  { type, sequence }: Pick<Step, 'type' | 'sequence'>,
): boolean {
  // What is burned is late, it does not fail.
  if (fault === 'BRIDGE_TIMEOUT') return false
  const failing = stepOfFault[fault]
  return failing === undefined ? sequence === 1 : failing === type
}

const refusal = (rule: string): ServiceError =>
  invalidRequest('metadata.simulate', `metadata.simulate ${rule}.`)
