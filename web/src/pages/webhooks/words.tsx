import type { Delivery, Webhook } from '../../api/types.js'
import { State, type StateName } from '../../ui/feedback/State.js'

/** Why nothing is sent any more. */
const reasons: Record<NonNullable<Webhook['disabledReason']>, string> = {
  by_account: 'Somebody of this account has disabled it.',
  gone: 'It responded with 410 Gone.',
  failing: 'It has accepted no delivery for three days.',
}

export const reasonOf = ({ disabledReason }: Webhook) => disabledReason && reasons[disabledReason]

export const eventsText = ({ events }: Webhook) =>
  events.includes('*') ? 'all' : events.length === 1 ? events[0] : `${events.length} types`

/** Disabled by somebody is meant so; by the service it is a trouble. */
export function WebhookState({ status, disabledReason }: Webhook) {
  if (status === 'enabled') return <State state="done">Enabled</State>
  return <State state={disabledReason === 'by_account' ? 'stopped' : 'failed'}>Disabled</State>
}

const faces: Record<Delivery['status'], { state: StateName; word: string }> = {
  pending: { state: 'waiting', word: 'On its way' },
  delivered: { state: 'done', word: 'Delivered' },
  failed: { state: 'failed', word: 'Failed' },
}

export function DeliveryState({ status }: { status: Delivery['status'] }) {
  const { state, word } = faces[status]
  return <State state={state}>{word}</State>
}

type Attempt = Delivery['attempts'][number]

/** Why a try has brought no answer that counts. */
const errors: Record<NonNullable<Attempt['error']>, string> = {
  timed_out: 'No answer in time.',
  not_resolved: 'Its name could not be resolved.',
  address_refused: 'Its name leads to an address that nothing is sent to.',
  connection_failed: 'It could not be reached, or the connection broke.',
  tls_failed: 'Its certificate is not valid.',
  status_refused: 'Only an answer of 2xx accepts.',
  endpoint_disabled: 'It was disabled or deleted.',
}

export const errorText = ({ error }: Attempt) => error && errors[error]
