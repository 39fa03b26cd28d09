import { isSameAddress } from '../chains/address.js'
import type { Interface } from 'ethers'
import type { Log } from '../chains/read.js'

/** The first topic of an event's logs. */
export function topicOf(abi: Interface, event: string): string {
  const fragment = abi.getEvent(event)
  if (!fragment) throw new Error(`No event ${event}.`)
  return fragment.topicHash
}

/** Events of a market whose arguments have the given values, addresses among them with checksum. */
type Wanted = { name: string; emitter: string; where: Record<string, string>; unitsIn: string }

/**
 * Adds up one argument of the wanted events, base units. Other contracts may emit the same event,
 * and anybody may act for a wallet; only the market's own word about the wallet's own doing counts.
 */
export function sumEvents(abi: Interface, logs: Log[], wanted: Wanted): bigint {
  const { name, emitter, where, unitsIn } = wanted
  const topic = topicOf(abi, name)
  return logs
    .filter(({ topics, address }) => topics[0] === topic && isSameAddress(address, emitter))
    .map((log) => abi.parseLog(log))
    .map((event) => event?.args.toObject() ?? {})
    .filter((values) => Object.entries(where).every(([key, value]) => values[key] === value))
    .reduce((sum, values) => sum + (values[unitsIn] as bigint), 0n)
}
