export type OperationKind = 'deposit' | 'fund'

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
