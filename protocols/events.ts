import { isSameAddress } from '../chains/address.js'
import { word } from '../chains/abi.js'
import type { Interface } from 'ethers'
import type { Log } from '../chains/read.js'

/** The first topic of an event's logs. */
export function topicOf(abi: Interface, event: string): string {
  const fragment = abi.getEvent(event)
  if (!fragment) throw new Error(`No event ${event}.`)
  return fragment.topicHash
}

/** Events of a contract whose arguments are the given addresses. All of those that count have a word each. */
type Wanted = { name: string; emitter: string; where: Record<string, string>; unitsIn: string }

/**
 * Adds up one argument of the wanted events, base units. Other contracts may emit the same event,
 * and anybody may act for a wallet; only the contract's own word about the wallet's own doing counts.
 */
export function sumEvents(abi: Interface, logs: Log[], wanted: Wanted): bigint {
  const { name, emitter, where, unitsIn } = wanted
  const { topic, wordOf } = shapeOf(abi, name)
  const isWanted = (log: Log) =>
    Object.entries(where).every(([key, address]) => wordOf(log, key) === word(address).hex)
  return logs
    .filter(({ topics, address }) => topics[0] === topic && isSameAddress(address, emitter))
    .filter(isWanted)
    .reduce((sum, log) => sum + BigInt(`0x${wordOf(log, unitsIn)}`), 0n)
}

/** How an event stands in its logs. `wordOf`: 32 bytes of one argument, as hex without `0x`. */
type Shape = { topic: string; wordOf(log: Log, argument: string): string }

/** Each is worked out once: each log of each operation is asked about by each market. */
const shapes = new WeakMap<Interface, Map<string, Shape>>()

function shapeOf(abi: Interface, event: string): Shape {
  const known = shapes.get(abi) ?? new Map<string, Shape>()
  shapes.set(abi, known)
  const shape = known.get(event) ?? readShape(abi, event)
  known.set(event, shape)
  return shape
}

/** Hex digits of 32 bytes. */
const WORD = 64

function readShape(abi: Interface, event: string): Shape {
  const inputs = abi.getEvent(event)?.inputs ?? []
  const places = new Map<string, (log: Log) => string | undefined>()
  let [topicAt, dataAt] = [1, 2]
  for (const { name, indexed } of inputs) {
    const at = indexed ? topicAt++ : dataAt
    if (!indexed) dataAt += WORD
    places.set(name, ({ topics, data }) =>
      indexed ? topics[at]?.slice(2) : data.slice(at, at + WORD),
    )
  }
  return {
    topic: topicOf(abi, event),
    wordOf(log, argument) {
      const word = places.get(argument)?.(log)
      if (word?.length === WORD) return word.toLowerCase()
      throw new Error(`A log of ${event} has no ${argument}.`)
    },
  }
}
