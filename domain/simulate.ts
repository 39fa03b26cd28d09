import { invalidRequest, type ServiceError } from './errors.js'
import type { StepPlan, PlanStep } from './intent/intent.js'

/** Failures that a caller can simulate on a test network, and the step at which each happens. */
const stepOfFault = {
  BRIDGE_FAILED: 'bridge',
  BRIDGE_TIMEOUT: 'bridge',
  SWAP_FAILED: 'swap',
  DEPOSIT_FAILED: 'deposit',
  WITHDRAW_FAILED: 'withdraw',
  NETWORK_ERROR: undefined,
  RPC_ERROR: undefined,
  INSUFFICIENT_FUNDS: undefined,
} as const satisfies Record<string, PlanStep['type'] | undefined>

export type Fault = keyof typeof stepOfFault
export const faults = Object.keys(stepOfFault) as Fault[]

/** Networks with test money, listed one by one, so that a new network is excluded by default. */
const testNetworks = ['devnet', 'testnet']

/**
 * The failure that the caller's metadata requests, or undefined.
 *
 * @param network - Network of this deployment.
 * @throws {ServiceError} INVALID_REQUEST on a network with real money, or for an unknown failure.
 */
export function acceptFault(
  metadata: Record<string, unknown> | undefined,
  network: string,
): Fault | undefined {
  if (metadata?.simulate !== undefined && !testNetworks.includes(network)) {
    throw refusal('is available on test networks only')
  }
  return faultIn(metadata)
}

/**
 * The failure that the metadata of an accepted intent requests, or undefined.
 *
 * @throws {ServiceError} INVALID_REQUEST for an unknown failure.
 */
export function faultIn(metadata: Record<string, unknown> | null | undefined): Fault | undefined {
  const wanted = metadata?.simulate
  if (wanted === undefined) return undefined
  const fault = faults.find((code) => code === wanted)
  if (fault) return fault
  throw refusal(`must be one of ${faults.join(', ')}`)
}

/** Throws INVALID_REQUEST when no step of the plan can fail in this way. */
export function assertFaultPossible(fault: Fault, { steps }: StepPlan): void {
  const type = stepOfFault[fault]
  if (type === undefined || steps.some((step) => step.type === type)) return
  throw refusal(`cannot be ${fault}: the plan has no ${type} step`)
}

/** True when the step should fail before it sends anything. */
export function isFaultOf(
  fault: Fault,
  { type, sequence }: Pick<PlanStep, 'type' | 'sequence'>,
): boolean {
  // A bridge transfer is late, it does not fail.
  if (fault === 'BRIDGE_TIMEOUT') return false
  const failing = stepOfFault[fault]
  return failing === undefined ? sequence === 1 : failing === type
}

const refusal = (rule: string): ServiceError =>
  invalidRequest('metadata.simulate', `metadata.simulate ${rule}.`)
