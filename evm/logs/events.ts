import { isSameAddress } from '../address.js'
import type { Interface } from 'ethers'
import type { EventLog } from '../read.js'

/** The first topic of an event's logs. */
export function topicOf(abi: Interface, event: string): string {
  const fragment = abi.getEvent(event)
  if (!fragment) throw new Error(`No event ${event}.`)
  return fragment.topicHash
}

/** Events of one contract, filtered by address arguments. */
type ContractEvents = {
  name: string
  emitter: string
  where: Record<string, string>
  unitsIn: string
}

/**
 * Sums one argument of the selected events, base units. Only events of the given contract with the given addresses
 * count: other contracts may emit the same event, and any account may act for a wallet.
 */
export function sumEvents(abi: Interface, logs: EventLog[], selection: ContractEvents): bigint {
  const { name, emitter, where, unitsIn } = selection
  const topic = topicOf(abi, name)
  return logs
    .filter(({ topics, address }) => topics[0] === topic && isSameAddress(address, emitter))
    .map(({ topics, data }) => abi.decodeEventLog(name, data, topics))
    .filter((args) =>
      Object.entries(where).every(([key, address]) => isSameAddress(toAddress(args[key]), address)),
    )
    .reduce((sum, args) => sum + BigInt(args[unitsIn] as bigint), 0n)
}

/** An address that some contracts emit as 32 bytes. */
const toAddress = (value: unknown): string => `0x${String(value).slice(-ADDRESS)}`
const ADDRESS = 40
