import { isSameAddress } from '../chains/address.js'
import type { Interface } from 'ethers'
import type { Log } from '../chains/read.js'

/** The first topic of an event's logs. */
export function topicOf(abi: Interface, event: string): string {
  const fragment = abi.getEvent(event)
  if (!fragment) throw new Error(`No event ${event}.`)
  return fragment.topicHash
}

/** Events of a contract whose arguments are the given addresses. */
type Wanted = { name: string; emitter: string; where: Record<string, string>; unitsIn: string }

/**
 * Adds up one argument of the wanted events, base units. Other contracts may emit the same event,
 * and anybody may act for a wallet; only the contract's own word about the wallet's own doing counts.
 */
export function sumEvents(abi: Interface, logs: Log[], wanted: Wanted): bigint {
  const { name, emitter, where, unitsIn } = wanted
  const topic = topicOf(abi, name)
  return logs
    .filter(({ topics, address }) => topics[0] === topic && isSameAddress(address, emitter))
    .map(({ topics, data }) => abi.decodeEventLog(name, data, topics))
    .filter((args) =>
      Object.entries(where).every(([key, address]) => isSameAddress(toAddress(args[key]), address)),
    )
    .reduce((sum, args) => sum + BigInt(args[unitsIn] as bigint), 0n)
}

/** An address, which some contracts write into 32 bytes. */
const toAddress = (value: unknown): string => `0x${String(value).slice(-ADDRESS)}`
const ADDRESS = 40
