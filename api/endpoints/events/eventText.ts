import { eventBody } from '../../../domain/events/eventBody.js'
import { toFrame } from '../../http/streaming/eventStream.js'
import type { IntentEvent } from '../../../domain/events/events.js'

/** Texts are shared by all streams of an event. */
const texts = new WeakMap<IntentEvent, string>()

/** An event on the wire of a stream. */
export function eventText(event: IntentEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const body = eventBody(event)
  const text = toFrame({ id: body.id, type: body.type, data: body })
  texts.set(event, text)
  return text
}
