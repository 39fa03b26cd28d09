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

/** `status` of the intent from then on; of a step its number in `step`, the `kind` of operation, chain and hash. */
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

/** Something that has happened to an intent, or beside intents. Keep the order in which they come, not that of their ids. */
export type Event = {
  /** Names it for ever: go on after it by `after`. */
  id: string
  type: EventType
  intentId?: string
  walletId?: string
  timestamp: string
  data: EventData
}
