import { errorCatalog, type ErrorCode } from '../errors.js'

/** `meaning` and `hint` where they differ from the error catalog. */
type FailureFacts = { money: string; meaning?: string; hint?: string }

const UNTOUCHED = 'Where it was. Nothing was sent.'

/** Every `error.code` of a failed intent, with the place of its money. `error.funds` has the amounts. */
export const failureCatalog = {
  BRIDGE_FAILED: { money: 'In the wallet on the source chain.' },
  BRIDGE_TIMEOUT: {
    money:
      'In the bridge, until it arrives in the wallet on the destination chain. `error.recovery` then names the transaction.',
  },
  SWAP_FAILED: { money: 'In the wallet, not swapped.' },
  WITHDRAW_FAILED: { money: 'Still in the market, apart from what earlier steps withdrew.' },
  DEPOSIT_FAILED: { money: 'In the wallet on the chain of the deposit.' },
  NETWORK_ERROR: {
    money: 'Where it was before the failed step. No transaction of that step was sent.',
  },
  RPC_ERROR: {
    money: 'Where it was before the failed step. No transaction of that step was sent.',
  },
  INTERNAL: {
    meaning: 'A step failed because of a fault in the service.',
    money: 'Where it was before the failed step. No transaction of that step was sent.',
    hint: `${errorCatalog.RPC_ERROR.hint} If it fails again, report the id of the intent.`,
  },
  CANCELLED: {
    money: 'Where it was, or where the completed steps have left it. Nothing was sent after them.',
  },
  INSUFFICIENT_FUNDS: {
    meaning:
      'The chains did not respond when the intent was created. When it was planned later, the wallet had too little money.',
    money: UNTOUCHED,
  },
  INVALID_REQUEST: {
    meaning:
      'The chains did not respond when the intent was created. When it was planned later, it was impossible. `error.message` states why.',
    money: UNTOUCHED,
    hint: 'Create an intent that avoids the problem in `error.message`.',
  },
} as const satisfies Partial<Record<ErrorCode, FailureFacts>>

/** Why an intent failed. */
export type FailureCode = keyof typeof failureCatalog
export const intentFailureCodes = Object.keys(failureCatalog) as [FailureCode, ...FailureCode[]]

/** The published code of a failure. Other codes are a fault in the service. */
export const toFailureCode = (code: string): FailureCode =>
  intentFailureCodes.find((known) => known === code) ?? 'INTERNAL'

/** Meaning, place of the money, and next action for a failed intent. */
export function explainFailure(code: FailureCode): Required<FailureFacts> {
  const { meaning, hint } = errorCatalog[code]
  return { meaning, hint, ...failureCatalog[code] }
}
