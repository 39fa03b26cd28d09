import { toEffect, type EffectRow } from './stepEffects.js'
import { concerns } from '../pauses.js'
import type { Effect } from '../../domain/intent/results.js'
import type { StepOperation } from '../../domain/intent/stepOperation.js'

/** The timeline of an intent: its operations and its retry. */
export type IntentTimeline = {
  operations: StepOperation[]
  /** The effects of operations that are in a block. */
  effects: Effect[]
  /** The intent that retries it, or null. */
  retriedBy: string | null
}

/** The timeline of a new intent. */
export const emptyTimeline: IntentTimeline = { operations: [], effects: [], retriedBy: null }

/** Pauses are read only for operations that they can delay. */
const PAUSE = `case when op.state in ('queued', 'deferred', 'signed') then (
    select json_build_object('scope', s.scope, 'since', s.since) from pause s
    where s.until is null and ${concerns}
    order by array_position(array['deployment', 'chain', 'account', 'wallet'], s.scope) limit 1) end`

/** The operations of the intent or the funding `i` as JSON, in the order of its steps. */
export const OPERATIONS = `select json_agg(json_build_object(
      'sequence', op.sequence, 'kind', op.kind, 'chain', c.name, 'state', op.state, 'success', op.success,
      'code', op.code, 'message', op.message, 'waitsFor', op.waits_for, 'isIncluded', op.tx_id is not null,
      'pause', ${PAUSE}, 'txHash', op.tx_hash, 'startedAt', op.created_at, 'waitsSince', op.waits_since,
      'signedAt', op.signed_at, 'minedAt', op.mined_at, 'endedAt', op.ended_at, 'changedAt', op.changed_at,
      'burnedAt', b.burned_at, 'attestedAt', b.attested_at, 'delayReason', b.delay_reason,
      'gasUsed', op.gas_used::text, 'gasCostUsd', op.gas_cost_usd::text, 'units', op.units::text,
      'blockNumber', op.block_number, 'blockTime', op.block_time) order by op.sequence, op.created_at)
  from operation op join chain c on c.id = op.chain_id left join burn b on b.operation_id = op.id
  where op.intent_id = i.id`

/** The timeline of the intent `i` as JSON, for a statement that reads it with its intent. */
export const TIMELINE = `select json_build_object(
    'retriedBy', (select r.id from intent r where r.retry_of = i.id),
    'operations', (${OPERATIONS}))`

export type OperationRow = StepOperation & EffectRow
export type IntentTimelineRow = Pick<IntentTimeline, 'retriedBy'> & {
  operations: OperationRow[] | null
}

export function toTimeline({ operations, ...row }: IntentTimelineRow): IntentTimeline {
  const rows = operations ?? []
  const included = rows.filter(({ state }) => ['mined', 'confirmed', 'final'].includes(state))
  return { ...row, operations: rows.map(toStepOperation), effects: included.map(toEffect) }
}

const isoTime = (time: string | null) => time && new Date(time).toISOString()

export const toStepOperation = (row: OperationRow): StepOperation => ({
  ...row,
  pause: row.pause && { ...row.pause, since: new Date(row.pause.since).toISOString() },
  startedAt: new Date(row.startedAt).toISOString(),
  waitsSince: isoTime(row.waitsSince),
  signedAt: isoTime(row.signedAt),
  minedAt: isoTime(row.minedAt),
  endedAt: isoTime(row.endedAt),
  changedAt: isoTime(row.changedAt),
  burnedAt: isoTime(row.burnedAt),
  attestedAt: isoTime(row.attestedAt),
})
