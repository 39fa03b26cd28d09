export type OperationKind = 'deposit' | 'fund'

/**
 * queued, deferred: nothing is signed. signed: bytes exist and may be executed by anybody.
 * mined, confirmed, final: its log is in a canonical block. rejected, cancelled: never signed, over.
 */
export type OperationState =
  'queued' | 'deferred' | 'signed' | 'mined' | 'confirmed' | 'final' | 'rejected' | 'cancelled'

/** A contract call of a wallet. Value is always zero: wallets hold no native coin. */
export type Call = { to: string; data: string }
