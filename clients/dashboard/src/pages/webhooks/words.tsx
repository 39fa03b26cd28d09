import type { Delivery, Webhook } from '../../api/types.js'
import { State, type StateName } from '../../ui/feedback/State.js'
import { disabledReasons } from './disabledReasons.js'

/** Why an endpoint is disabled. */
export const reasonOf = ({ disabledReason }: Webhook) =>
  disabledReason && `${disabledReasons[disabledReason]}.`

export const eventsText = ({ events }: Webhook) =>
  events.includes('*') ? 'all' : events.length === 1 ? events[0] : `${events.length} types`

/** Disabled by a member is neutral. Disabled by the service is a failure. */
export function WebhookState({ status, disabledReason }: Webhook) {
  if (status === 'enabled') return <State state="done">Enabled</State>
  return <State state={disabledReason === 'by_account' ? 'stopped' : 'failed'}>Disabled</State>
}

const faces: Record<Delivery['status'], { state: StateName; word: string }> = {
  pending: { state: 'waiting', word: 'Pending' },
  delivered: { state: 'done', word: 'Delivered' },
  failed: { state: 'failed', word: 'Failed' },
}

export function DeliveryState({ status }: { status: Delivery['status'] }) {
  const { state, word } = faces[status]
  return <State state={state}>{word}</State>
}

type LoggedAttempt = Delivery['attempts'][number]

/** Why an attempt failed. */
const errors: Record<NonNullable<LoggedAttempt['error']>, string> = {
  timed_out: 'The endpoint did not respond in time.',
  not_resolved: 'The host name could not be resolved.',
  address_refused: 'The host name resolves to a forbidden address.',
  connection_failed: 'The connection failed.',
  tls_failed: 'The TLS certificate is not valid.',
  status_refused: 'The status is not 2xx.',
  endpoint_disabled: 'The endpoint was disabled or deleted.',
}

export const errorText = ({ error }: LoggedAttempt) => error && errors[error]
