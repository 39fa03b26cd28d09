import type { OperationKind, OperationState } from './operation.js'

/** What a code means to whoever waits. `message` ends a sentence that begins with the step, and may name the chain. */
type WaitingFacts = { meaning: string; message: (chain: string) => string }

/** Every `waitingFor.code`: why a step, or an intent without a plan, does not go on at this moment. Nothing has failed. */
export const waitingCatalog = {
  SERVICE: {
    meaning: 'The service has not taken it up yet, or cannot now. It goes on by itself.',
    message: () => 'Waits until the service takes it up.',
  },
  SIGNER: {
    meaning: 'It waits for its turn to be signed.',
    message: (chain) => `Waits for its turn to be signed for ${chain}.`,
  },
  LANE_GAS: {
    meaning:
      'The accounts of the service that pay the gas on its chain have too little. They are refilled.',
    message: (chain) => `The accounts that pay the gas on ${chain} have too little.`,
  },
  GAS_PRICE: {
    meaning: 'Gas costs more than the service pays. It goes on when gas is cheaper.',
    message: (chain) => `Gas on ${chain} costs more than the service pays.`,
  },
  PAUSED: {
    meaning: 'The operator of the service has paused the chain, or everything.',
    message: (chain) => `The operator of this service has paused what is signed for ${chain}.`,
  },
  FROZEN: {
    meaning: 'The operator of the service has frozen the wallet or its account.',
    message: () => 'The operator of this service has frozen the wallet or its account.',
  },
  CHAIN_SILENT: {
    meaning: 'The nodes of its chain do not answer, answer with errors, or are behind.',
    message: (chain) => `The nodes of ${chain} do not answer, or are behind.`,
  },
  BOOKING: {
    meaning: 'Money that is there already is not booked yet: the service waits for the block.',
    message: (chain) => `What has arrived on ${chain} is not booked yet.`,
  },
  MARKET_ROOM: {
    meaning: 'The market takes in, or pays out, less than the step moves, at this moment.',
    message: (chain) => `The market on ${chain} has too little room or cash now.`,
  },
  PRICE: {
    meaning: 'The swap would bring less than the minimum of the plan. It is quoted again.',
    message: (chain) => `The swap on ${chain} would bring less than the minimum of the plan now.`,
  },
  DAILY_LIMIT: {
    meaning: 'A daily limit of the deployment is reached. There is room again later.',
    message: () => 'A daily limit of this deployment is reached.',
  },
  REFUSED: {
    meaning: 'The chain would refuse the call now. Before it counts as failed it is tried again.',
    message: (chain) => `The call would fail on ${chain} now. It is tried again.`,
  },
  RESENDING: {
    meaning: 'Its transaction was reverted or lost, and moved nothing. It is sent again.',
    message: (chain) => `Its transaction on ${chain} was not executed. It is sent again.`,
  },
  MINING: {
    meaning: 'It is signed and sent, and in no block yet.',
    message: (chain) => `Sent, waits to be in a block of ${chain}.`,
  },
  CONFIRMATIONS: {
    meaning: 'It is in a block that has too few blocks on top of it.',
    message: (chain) => `In a block of ${chain}, waits for confirmations.`,
  },
  ATTESTATION: {
    meaning: 'The money was burned. The service of the bridge has not attested it yet.',
    message: (chain) => `Burned on ${chain}, waits to be attested.`,
  },
} as const satisfies Record<string, WaitingFacts>

export type WaitingCode = keyof typeof waitingCatalog
export const waitingCodes = Object.keys(waitingCatalog) as [WaitingCode, ...WaitingCode[]]

const isWaitingCode = (text: unknown): text is WaitingCode =>
  waitingCodes.some((code) => code === text)

/** The sentence of a code for a reader. `chain`: the canonical name of the chain in question. */
export const waitingMessage = (code: WaitingCode, chain: string): string =>
  waitingCatalog[code].message(chain)

/** An operator's stop that holds an operation up. */
export type StopScope = 'account' | 'wallet' | 'chain' | 'deployment'

/**
 * What an operation's row says about why it is not over. `waitsFor` is the signer's reason of its last try, null
 * before that and once it is signed; `isCarried`: a transaction of ours carries it; `stop`: of an operator.
 */
export type WaitingRow = {
  kind: OperationKind
  state: OperationState
  code: string | null
  waitsFor: string | null
  isCarried: boolean
  stop?: StopScope | null | undefined
}

/** What an operation waits for, undefined when it is over. The only judge of it. */
export function waitingCodeOf(row: WaitingRow): WaitingCode | undefined {
  const { state, isCarried } = row
  switch (state) {
    case 'queued':
    case 'deferred':
      return stopCode(row) ?? tryCode(row)
    case 'signed':
      if (!isCarried) return stopCode(row) ?? 'RESENDING'
      return isWaitingCode(row.waitsFor) ? row.waitsFor : 'MINING'
    case 'mined':
      return 'CONFIRMATIONS'
    default:
      return undefined
  }
}

/** Who has frozen something is not told, and neither is why. */
function stopCode({ stop }: WaitingRow): WaitingCode | undefined {
  if (!stop) return undefined
  return stop === 'chain' || stop === 'deployment' ? 'PAUSED' : 'FROZEN'
}

/** What its last try was turned away for; what was never tried waits for the signer. */
function tryCode({ code, waitsFor }: WaitingRow): WaitingCode {
  if (isWaitingCode(waitsFor)) return waitsFor
  return code === null ? 'SIGNER' : reasonOf(code)
}

/**
 * What a refusal by the signer means to whoever waits.
 *
 * @param code - Under which it was refused.
 * @param told - What the refusal says itself of what it waits for, if it does.
 */
export function reasonOf(code: string, told?: unknown): WaitingCode {
  if (isWaitingCode(told)) return told
  switch (code) {
    case 'RPC_ERROR':
    case 'NETWORK_ERROR':
      return 'CHAIN_SILENT'
    case 'DAILY_LIMIT':
      return 'DAILY_LIMIT'
    case 'MINTED':
      return 'BOOKING'
    case 'INTERNAL':
      return 'SERVICE'
    default:
      return 'REFUSED'
  }
}

/** Details of an error that says what it waits for. */
export type Held = { waitsFor: WaitingCode }

/** What an intent or one of its steps waits for, since when (ISO 8601), and how long that usually takes. */
export type WaitingFor = {
  code: WaitingCode
  message: string
  since: string
  usualSeconds?: number
}
