import { toEffect, type EffectRow } from './stepEffects.js'
import { concerns, freezes } from '../pauses.js'
import type { Effect } from '../../domain/intent/results.js'
import type { StepOperation } from '../../domain/intent/stepOperation.js'

/** The timeline of an intent: its operations, its retry and its user. */
export type IntentTimeline = {
  operations: StepOperation[]
  /** The effects of operations that are in a block. */
  effects: Effect[]
  /** The intent that retries it, or null. */
  retriedBy: string | null
  /** True while it runs and can be cancelled. */
  isCancellable: boolean
  /** Why the end of a failed intent is open: a reorg could still revert it, or an operation is in flight. */
  unsettled: OpenEnd | null
  /** True when it has failed and the deployment is paused, or its wallet or account is frozen. */
  isPaused: boolean
  /** The user of its wallet. Null: not read. */
  userId: string | null
}

/** `until`: when the failure settles, if no reorg reverses it. Null: it is not confirmed. */
export type OpenEnd = { until: Date | null }

/** The timeline of a new intent. */
export const emptyTimeline: IntentTimeline = {
  ...{ operations: [], effects: [], retriedBy: null, userId: null },
  ...{ isCancellable: true, unsettled: null, isPaused: false },
}

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

/** The open end of the failed intent `i` as JSON, from the operation that settles last. */
const UNSETTLED = `select json_build_object('until', settles_at(o)) from operation o
  where o.intent_id = i.id and (o.state in ('signed', 'mined') or settles_at(o) > clock_timestamp())
  order by settles_at(o) desc nulls first limit 1`

/** The timeline of the intent `i` as JSON, for a statement that reads it with its intent. */
export const TIMELINE = `select json_build_object(
    'retriedBy', (select r.id from intent r where r.retry_of = i.id),
    'isCancellable', i.cancelled_at is null and i.status not in ('completed', 'failed') and is_cancellable(i),
    'unsettled', case when i.status = 'failed' then (${UNSETTLED}) end,
    'isPaused', i.status = 'failed' and exists (select from pause s
      where s.until is null and s.scope = 'deployment' or ${freezes('i.account_id', 'i.wallet_id')}),
    'userId', (select w.user_id from wallet w where w.id = i.wallet_id),
    'operations', (${OPERATIONS}))`

export type OperationRow = StepOperation & EffectRow
export type IntentTimelineRow = Omit<IntentTimeline, 'operations' | 'effects' | 'unsettled'> & {
  operations: OperationRow[] | null
  unsettled: { until: string | null } | null
}

export function toTimeline({ operations, unsettled, ...row }: IntentTimelineRow): IntentTimeline {
  const rows = operations ?? []
  const included = rows.filter(({ state }) => ['mined', 'confirmed', 'final'].includes(state))
  return {
    ...row,
    unsettled: unsettled && { until: unsettled.until === null ? null : new Date(unsettled.until) },
    operations: rows.map(toStepOperation),
    effects: included.map(toEffect),
  }
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
