import { errorCatalog, type ErrorCode } from './errors.js'

/** `meaning` and `hint` where they differ from those of the same code as the answer to a call. */
type FailureFacts = { money: string; meaning?: string; hint?: string }

const UNTOUCHED = 'Where it was before. Nothing was sent.'

/** Every `error.code` of a failed intent, with where its money is. `error.funds` has it in figures. */
export const failureCatalog = {
  BRIDGE_FAILED: { money: 'In the wallet on the source chain.' },
  BRIDGE_TIMEOUT: {
    money:
      'In the bridge, until it arrives in the wallet on the destination chain. `error.recovery` then names the transaction.',
  },
  SWAP_FAILED: { money: 'In the wallet, not swapped.' },
  WITHDRAW_FAILED: { money: 'Still in the market, apart from what earlier steps withdrew.' },
  DEPOSIT_FAILED: { money: 'In the wallet on the chain of the deposit.' },
  NETWORK_ERROR: { money: 'Where the failed step found it. Nothing of that step was sent.' },
  RPC_ERROR: { money: 'Where the failed step found it. Nothing of that step was sent.' },
  INTERNAL: {
    meaning: 'A step could not be done because of a fault in the service.',
    money: 'Where the failed step found it. Nothing of that step was sent.',
    hint: `${errorCatalog.RPC_ERROR.hint} If it fails again, report the id of the intent.`,
  },
  CANCELLED: { money: UNTOUCHED },
  INSUFFICIENT_FUNDS: {
    meaning:
      'The chains did not answer when the intent was created. Planned later, it turned out that the wallet lacks the funds.',
    money: UNTOUCHED,
  },
  INVALID_REQUEST: {
    meaning:
      'The chains did not answer when the intent was created. Planned later, it turned out that it cannot be done; `error.message` says why.',
    money: UNTOUCHED,
    hint: 'Create an intent that avoids what `error.message` names.',
  },
} as const satisfies Partial<Record<ErrorCode, FailureFacts>>

/** Why an intent failed. */
export type FailureCode = keyof typeof failureCatalog
export const intentFailureCodes = Object.keys(failureCatalog) as [FailureCode, ...FailureCode[]]

/** The published code of a failure; what is none is a fault in the service. */
export const toFailureCode = (code: string): FailureCode =>
  intentFailureCodes.find((known) => known === code) ?? 'INTERNAL'

/** What happened, where the money is and what to do, of an intent that failed. */
export function explainFailure(code: FailureCode): Required<FailureFacts> {
  const { meaning, hint } = errorCatalog[code]
  return { meaning, hint, ...failureCatalog[code] }
}
