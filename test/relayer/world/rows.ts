/** Columns of an operation's row that tests read. */
export type OperationColumns = {
  id: string
  chain_key: string
  state: string
  code: string | null
  message: string | null
  refused_block: bigint | null
  waits_for: string | null
  waits_since: Date | null
  lease_owner: string | null
  inclusion_failures: number
  reverts: number
  spent_since: bigint | null
  payload: unknown
  tx_id: bigint | null
  success: boolean | null
  tx_hash: string | null
  block_number: bigint | null
  block_hash: string | null
  gas_used: string | null
  units: string | null
}

export type ReservationColumns = {
  units: string
  from_block: bigint | null
  spent_block: bigint | null
  released_at: Date | null
}
export type Tx = { id: bigint; sender: string; nonce: bigint; state: string }
export type Send = { tx_id: bigint; n: number; hash: string; raw: string }
