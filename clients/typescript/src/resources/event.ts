import type { Known } from '../known.js'
import type { Delay, IntentError, IntentStatus } from './intent.js'

export type EventType = Known<
  | 'intent.created'
  | 'intent.planned'
  | 'intent.executing'
  | 'intent.step_started'
  | 'intent.step_progressed'
  | 'intent.step_completed'
  | 'intent.step_failed'
  | 'intent.step_reverted'
  | 'intent.delayed'
  | 'intent.delay_over'
  | 'intent.completed'
  | 'intent.failed'
  | 'intent.cancelled'
  | 'intent.recovered'
  | 'intent.reopened'
  | 'wallet.created'
  | 'wallet.funded'
  | 'credits.low'
  | 'credits.exhausted'
  | 'webhook.test'
  | 'webhook.disabled'
>

/** `status`: of the intent after the event. `step`, `kind`, `chain`, `txHash`: the operation of a step event. */
export type EventData = {
  status?: IntentStatus
  step?: number
  kind?: Known<'bridge' | 'mint' | 'swap' | 'deposit' | 'withdraw'>
  chain?: string
  txHash?: string
  error?: IntentError
  delay?: Delay
  [field: string]: unknown
}

/** An event of an intent, a wallet or the account. Events are ordered by delivery, not by id. */
export type Event = {
  /** Permanent id. Pass it as `after` to continue after this event. */
  id: string
  type: EventType
  intentId?: string
  walletId?: string
  timestamp: string
  data: EventData
}
