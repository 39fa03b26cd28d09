import { toPublicType, type EventType, type IntentEvent } from '../../domain/events.js'
import { assetText } from '../../domain/money.js'
import { toFrame } from '../http/eventStream.js'

/** The id by which callers know an event. Opaque to them. */
export const toEventId = (id: bigint): string => `evt_${id}`

/** @param id - As `toEventId` gave it. */
export const fromEventId = (id: string): bigint => BigInt(id.slice('evt_'.length))

/** The row's type, of a name that is one. */
export const fromPublicType = (name: string) => name.slice('intent.'.length) as EventType

/** An event as all who are told it see it, on whatever way. */
export function eventBody(event: IntentEvent) {
  const { id, type, intentId, walletId, at } = event
  return {
    id: toEventId(id),
    type: toPublicType(type),
    intentId,
    ...(walletId !== null && { walletId }),
    timestamp: at.toISOString(),
    data: dataOf(event),
  }
}

function dataOf(event: IntentEvent) {
  if (event.type !== 'created') return event.data
  const { status, action, asset, units } = event.data
  return { status, action, asset, amount: Number(assetText(BigInt(units))) }
}

/** However many streams tell an event, its text is made once. */
const texts = new WeakMap<IntentEvent, string>()

export function eventText(event: IntentEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const body = eventBody(event)
  const text = toFrame({ id: body.id, type: body.type, data: body })
  texts.set(event, text)
  return text
}
