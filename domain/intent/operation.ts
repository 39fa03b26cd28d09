/** `bridge` burns on the source chain, `mint` mints on the destination. */
export type OperationKind = 'bridge' | 'mint' | 'swap' | 'deposit' | 'withdraw' | 'fund'

/** Failure code of a step whose call the chain rejects. A mint is late, it does not fail. */
export const failureCodes = {
  bridge: 'BRIDGE_FAILED',
  mint: 'BRIDGE_TIMEOUT',
  swap: 'SWAP_FAILED',
  deposit: 'DEPOSIT_FAILED',
  withdraw: 'WITHDRAW_FAILED',
  fund: 'FUNDING_FAILED',
} as const satisfies Record<OperationKind, string>

/** Code of a mint that a foreign transaction executed. Its log is in an indexed block. */
export const MINTED = 'MINTED'

/** Code of an operation that waits for the daily limit: the amounts signed in the last 24 hours must fall. */
export const DAILY_LIMIT = 'DAILY_LIMIT'

/**
 * queued, deferred: not signed. signed: a signature exists, which anyone may execute.
 * mined, confirmed, final: its log is in a canonical block. rejected, cancelled: ended without a signature.
 */
export type OperationState =
  'queued' | 'deferred' | 'signed' | 'mined' | 'confirmed' | 'final' | 'rejected' | 'cancelled'

/** True when a signature exists or may exist again after a reorg. An operation that ended unsigned stays unsigned. */
export const isSigned = (state: OperationState): boolean =>
  ['signed', 'mined', 'confirmed', 'final'].includes(state)

/** A contract call of a wallet. Its value is always zero: wallets hold no native coin. */
export type Call = { to: string; data: string }
