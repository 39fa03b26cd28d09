import type { PublicEventType } from '../../../../domain/events/events.js'

/** The compiler checks that every type is listed. */
const known: Record<PublicEventType, true> = {
  'intent.created': true,
  'intent.planned': true,
  'intent.executing': true,
  'intent.step_started': true,
  'intent.step_progressed': true,
  'intent.step_completed': true,
  'intent.step_failed': true,
  'intent.step_reverted': true,
  'intent.delayed': true,
  'intent.delay_over': true,
  'intent.completed': true,
  'intent.failed': true,
  'intent.cancelled': true,
  'intent.recovered': true,
  'intent.reopened': true,
  'wallet.created': true,
  'wallet.funded': true,
  'credits.low': true,
  'credits.exhausted': true,
  'webhook.test': true,
  'webhook.disabled': true,
}

/** All event types, in the order in which an intent emits them. */
export const eventTypes = Object.keys(known) as PublicEventType[]
