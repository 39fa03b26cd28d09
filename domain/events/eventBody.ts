import { toPublicType, type IntentEvent } from './events.js'
import { assetText } from '../money.js'

/** The public id of an event, opaque to callers. */
export const toEventId = (id: bigint): string => `evt_${id}`

/** @param id - Result of `toEventId`. */
export const fromEventId = (id: string): bigint => BigInt(id.slice('evt_'.length))

/** The public form of an event in lists, streams and webhooks. */
export function eventBody(event: IntentEvent) {
  const { id, type, intentId, walletId, at } = event
  return {
    id: toEventId(id),
    type: toPublicType(type),
    ...(intentId !== null && { intentId }),
    ...(walletId !== null && { walletId }),
    timestamp: at.toISOString(),
    data: dataOf(event),
  }
}

function dataOf(event: IntentEvent) {
  if (event.type === 'created') {
    const { status, action, asset, units } = event.data
    return { status, action, asset, amount: amountOf(units) }
  }
  if (event.type === 'wallet.funded') {
    const { units, ...others } = event.data
    return { ...others, amount: amountOf(units) }
  }
  return event.data
}

const amountOf = (units: string) => Number(assetText(BigInt(units)))
