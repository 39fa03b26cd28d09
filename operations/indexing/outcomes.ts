import type { Db } from '../../db/client/connect.js'
import type { BlockId } from './indexedBlocks.js'

/** The outcome of an operation on the chain. `units` is the amount in its own logs. */
export type MinedOperation = {
  id: string
  success: boolean
  txHash: string
  block: BlockId
  /** Timestamp of its block. Undefined while unknown. */
  minedAt?: Date | undefined
  logIndex: number
  gasUsed: bigint
  /** Null when the price of ETH is unknown. */
  gasCostUsd: number | null
  units: bigint | undefined
  /** Of a deposit or withdrawal: base units per `SHARE_SCALE` shares of its market. Undefined when unknown. */
  sharePrice?: bigint | undefined
  /** The bridge message that a burn emitted. */
  messageSent: string | undefined
  /** Why the inner call reverted, as far as known. */
  refusal: string | undefined
}

/**
 * Writes the outcomes of operations, in any previous state, and marks their money as spent and as arrived. Of several
 * logs of one operation the last one counts. Outcomes up to the block `confirmed` are confirmed with it. Absent: none.
 */
export async function setMined(
  trx: Db,
  mined: MinedOperation[],
  confirmed?: bigint,
): Promise<void> {
  if (mined.length === 0) return
  const last = [...new Map(mined.map((one) => [one.id, one])).values()]
  const rows = JSON.stringify(last.map(toRow))
  await trx.raw(SET_OUTCOMES, [confirmed?.toString() ?? null, rows])
  await trx.raw(SET_SPENT, [rows])
  await trx.raw(SET_ARRIVED, [rows])
  if (last.some(({ messageSent }) => messageSent !== undefined)) await trx.raw(SET_BURNED, [rows])
}

const toRow = ({ block, minedAt, gasUsed, units, sharePrice, ...mined }: MinedOperation) => ({
  ...mined,
  block: block.number.toString(),
  hash: block.hash,
  minedAt: minedAt?.toISOString(),
  gasUsed: gasUsed.toString(),
  units: units?.toString(),
  sharePrice: sharePrice?.toString(),
})

const MINED = `json_to_recordset(?) as m (id text, success boolean, refusal text, "txHash" text, block bigint,
    hash text, "minedAt" timestamptz, "logIndex" int, "gasUsed" numeric, "gasCostUsd" numeric, units numeric, "sharePrice" numeric,
    "messageSent" text)`

const SET_OUTCOMES = `
update operation o set state = case when m.block <= cast(? as bigint) then 'confirmed' else 'mined' end,
  success = m.success, message = m.refusal, tx_hash = m."txHash",
  block_number = m.block, block_hash = m.hash, block_time = m."minedAt", log_index = m."logIndex",
  gas_used = m."gasUsed", gas_cost_usd = m."gasCostUsd", share_price = m."sharePrice", units = m.units, inclusion_failures = 0,
  lease_owner = null, leased_until = null
from ${MINED}
where o.id = m.id`

/** One operation at a time, by index, for any estimate of the planner. */
const SUCCESSFUL = `${MINED}
  cross join lateral (
    select x.intent_id, x.sequence, x.kind from operation x where x.id = m.id and m.success offset 0) o`

/** A mint spends no reservation: the money of its step was burned on another chain. */
const SET_SPENT = `
update reservation r set spent_block = m.block
from ${SUCCESSFUL}
where o.kind <> 'mint' and r.intent_id = o.intent_id and r.sequence = o.sequence`

/** Money that arrived is the input of the next step. A burn has no output yet. */
const SET_ARRIVED = `
update reservation r set from_block = m.block, units = m.units
from ${SUCCESSFUL}
where o.kind <> 'bridge' and m.units > 0 and r.intent_id = o.intent_id and r.fed_by = o.sequence`

const SET_BURNED = `
update burn b set sent = m."messageSent", burned_at = coalesce(b.burned_at, clock_timestamp())
from ${MINED}
where m.success and m."messageSent" is not null and b.operation_id = m.id`
