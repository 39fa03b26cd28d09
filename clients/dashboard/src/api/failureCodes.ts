import type { Intent } from './types.js'

type FailureCode = NonNullable<Intent['error']>['code']

/** The compiler checks that every code is listed. */
const known: Record<FailureCode, true> = {
  BRIDGE_FAILED: true,
  BRIDGE_TIMEOUT: true,
  SWAP_FAILED: true,
  WITHDRAW_FAILED: true,
  DEPOSIT_FAILED: true,
  NETWORK_ERROR: true,
  RPC_ERROR: true,
  INTERNAL: true,
  CANCELLED: true,
  INSUFFICIENT_FUNDS: true,
  INVALID_REQUEST: true,
}

/** All failure codes of intents. */
export const failureCodes = Object.keys(known) as FailureCode[]
