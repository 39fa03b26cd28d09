/** `bridge` burns on one chain what `mint` brings out on another. */
export type OperationKind = 'bridge' | 'mint' | 'swap' | 'deposit' | 'withdraw' | 'fund'

/** Under which code a step fails whose call the chain refuses. A mint is late, it does not fail. */
export const failureCodes = {
  bridge: 'BRIDGE_FAILED',
  mint: 'BRIDGE_TIMEOUT',
  swap: 'SWAP_FAILED',
  deposit: 'DEPOSIT_FAILED',
  withdraw: 'WITHDRAW_FAILED',
  fund: 'FUNDING_FAILED',
} as const satisfies Record<OperationKind, string>

/** Code of a mint that somebody else has done: its log is in a block that was booked already. */
export const MINTED = 'MINTED'

/** Code of an operation that waits until less was signed in the last 24 hours. */
export const DAILY_LIMIT = 'DAILY_LIMIT'

/**
 * queued, deferred: nothing is signed. signed: bytes exist and may be executed by anybody.
 * mined, confirmed, final: its log is in a canonical block. rejected, cancelled: never signed, over.
 */
export type OperationState =
  'queued' | 'deferred' | 'signed' | 'mined' | 'confirmed' | 'final' | 'rejected' | 'cancelled'

/** True when bytes exist that anybody may execute, now or after a reorg. An unsigned operation that is over stays so. */
export const isSigned = (state: OperationState): boolean =>
  ['signed', 'mined', 'confirmed', 'final'].includes(state)

/** A contract call of a wallet. Value is always zero: wallets hold no native coin. */
export type Call = { to: string; data: string }
