import type { OperationKind, OperationState } from './operation.js'

/** `message` is a sentence for the caller. It may name the chain. */
type WaitingFacts = { meaning: string; message: (chain: string) => string }

/** Every `waitingFor.code`: why a step, or an intent without a plan, waits now. None is a failure. */
export const waitingCatalog = {
  SERVICE: {
    meaning: 'The service has not picked it up yet, or cannot now. It continues automatically.',
    message: () => 'Waits for the service.',
  },
  SIGNER: {
    meaning: 'It waits to be signed.',
    message: (chain) => `Waits to be signed for ${chain}.`,
  },
  SENDER_GAS: {
    meaning:
      'The accounts of the service that pay the gas on its chain have too little ETH. They are refilled.',
    message: (chain) => `The accounts that pay the gas on ${chain} have too little ETH.`,
  },
  GAS_PRICE: {
    meaning: 'Gas costs more than the service pays. It continues when gas is cheaper.',
    message: (chain) => `Gas on ${chain} costs more than the service pays.`,
  },
  PAUSED: {
    meaning: 'The operator of the service has paused the chain, or the whole deployment.',
    message: (chain) => `The operator of this service has paused ${chain}.`,
  },
  FROZEN: {
    meaning: 'The operator of the service has frozen the wallet or its account.',
    message: () => 'The operator of this service has frozen the wallet or its account.',
  },
  CHAIN_SILENT: {
    meaning: 'The nodes of its chain do not respond, respond with errors, or are behind.',
    message: (chain) => `The nodes of ${chain} do not respond, or are behind.`,
  },
  INDEXING: {
    meaning: 'The money has arrived in a block that the service has not indexed yet.',
    message: (chain) => `The block with the money on ${chain} is not indexed yet.`,
  },
  MARKET_ROOM: {
    meaning: 'The market currently accepts or pays out less than the step moves.',
    message: (chain) => `The market on ${chain} has too little capacity or cash now.`,
  },
  PRICE: {
    meaning:
      'The swap or the vault would return less than its minimum, or the tokens are not worth the same. It is quoted again.',
    message: (chain) => `The price on ${chain} is outside the limits of the plan now.`,
  },
  DAILY_LIMIT: {
    meaning: 'A daily limit of the deployment is reached. It continues when the limit allows.',
    message: () => 'A daily limit of this deployment is reached.',
  },
  REFUSED: {
    meaning: 'The chain would reject the call now. The service retries before it counts as failed.',
    message: (chain) => `The call would fail on ${chain} now. The service retries.`,
  },
  RESENDING: {
    meaning: 'Its transaction reverted or was lost, and moved no money. It is resent.',
    message: (chain) => `Its transaction on ${chain} was not executed. It is resent.`,
  },
  MINING: {
    meaning: 'It is signed and sent, but not in a block yet.',
    message: (chain) => `Sent. Waits for a block of ${chain}.`,
  },
  CONFIRMATIONS: {
    meaning: 'It is in a block that has too few blocks on top of it.',
    message: (chain) => `In a block of ${chain}. Waits for confirmations.`,
  },
  ATTESTATION: {
    meaning: 'The money was burned. The attestation service of the bridge has not attested it yet.',
    message: (chain) => `Burned on ${chain}. Waits for the attestation.`,
  },
} as const satisfies Record<string, WaitingFacts>

export type WaitingCode = keyof typeof waitingCatalog
export const waitingCodes = Object.keys(waitingCatalog) as [WaitingCode, ...WaitingCode[]]

const isWaitingCode = (text: unknown): text is WaitingCode =>
  waitingCodes.some((code) => code === text)

/** The message of a code. `chain`: canonical name of the chain in question. */
export const waitingMessage = (code: WaitingCode, chain: string): string =>
  waitingCatalog[code].message(chain)

/** Scope of an operator's pause or freeze. */
export type PauseScope = 'account' | 'wallet' | 'chain' | 'deployment'

/**
 * The columns of an operation that decide its wait reason. `waitsFor` is the signer's reason at its last attempt, null
 * before that and once signed. `isIncluded`: one of our transactions includes it. `pause`: an operator's pause.
 */
export type WaitingRow = {
  kind: OperationKind
  state: OperationState
  code: string | null
  waitsFor: string | null
  isIncluded: boolean
  pause?: PauseScope | null | undefined
}

/** What an operation waits for, undefined when it has ended. This is the only place that decides it. */
export function waitingCodeOf(row: WaitingRow): WaitingCode | undefined {
  const { state, isIncluded } = row
  switch (state) {
    case 'queued':
    case 'deferred':
      return pauseCode(row) ?? tryCode(row)
    case 'signed':
      return pauseCode(row) ?? (isIncluded ? sentCode(row) : 'RESENDING')
    case 'mined':
      return 'CONFIRMATIONS'
    default:
      return undefined
  }
}

const sentCode = ({ waitsFor }: WaitingRow): WaitingCode =>
  isWaitingCode(waitsFor) ? waitsFor : 'MINING'

/** Callers learn neither which operator paused or froze it, nor why. */
function pauseCode({ pause }: WaitingRow): WaitingCode | undefined {
  if (!pause) return undefined
  return pause === 'chain' || pause === 'deployment' ? 'PAUSED' : 'FROZEN'
}

/** The reason of its last attempt. An operation without an attempt waits for the signer. */
function tryCode({ code, waitsFor }: WaitingRow): WaitingCode {
  if (isWaitingCode(waitsFor)) return waitsFor
  return code === null ? 'SIGNER' : reasonOf(code)
}

/**
 * The wait reason that callers see for a rejection by the signer.
 *
 * @param code - Code of the rejection.
 * @param stated - The wait reason that the rejection itself names, if any.
 */
export function reasonOf(code: string, stated?: unknown): WaitingCode {
  if (isWaitingCode(stated)) return stated
  switch (code) {
    case 'RPC_ERROR':
    case 'NETWORK_ERROR':
      return 'CHAIN_SILENT'
    case 'DAILY_LIMIT':
      return 'DAILY_LIMIT'
    case 'MINTED':
      return 'INDEXING'
    case 'INTERNAL':
      return 'SERVICE'
    default:
      return 'REFUSED'
  }
}

/** Details of an error that names its wait reason. */
export type Held = { waitsFor: WaitingCode }

/** What an intent or step waits for, since when (ISO 8601), and how long that usually takes. */
export type WaitingFor = {
  code: WaitingCode
  message: string
  since: string
  usualSeconds?: number
}
