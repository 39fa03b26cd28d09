import { decodeAggregate, encodeAggregate } from './aggregate.js'
import { ServiceError } from '../domain/errors.js'
import { revertedWith, type ChainClient } from './connect.js'

/**
 * Multicall3, at one address on every network. The devnet has a compatible reader there.
 * @see https://www.multicall3.com
 */
export const MULTICALL_ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** One call that makes several, each of which may fail alone. They see Multicall3 as their caller. */
export function encodeTogether(calls: Call[]): Call {
  return { to: MULTICALL_ADDRESS, data: encodeAggregate(calls) }
}

/** Nodes bound the gas of one eth_call. */
const MAX_CALLS = 100

type Call = { to: string; data: string }
type Waiting = { call: Call; resolve(returned: string): void; reject(error: unknown): void }

/** What is asked of a chain at a block in this turn of the event loop. */
const waitingOf = new WeakMap<ChainClient, Map<string, Waiting[]>>()

/**
 * Calls a contract. What one chain is asked at one block in the same turn of the event loop goes out as one
 * eth_call, because nodes bill and limit calls. A call that reverts fails alone. The contract may
 * see Multicall3 as its caller.
 *
 * @param block - As JSON-RPC takes it.
 * @returns What the contract returned: `0x` where there is none.
 * @throws {ServiceError} RPC_ERROR.
 */
export function callTogether(client: ChainClient, call: Call, block: unknown): Promise<string> {
  const blocks = waitingOf.get(client) ?? new Map<string, Waiting[]>()
  waitingOf.set(client, blocks)
  const key = JSON.stringify(block)
  const waiting = blocks.get(key) ?? []
  if (waiting.length === 0) {
    blocks.set(key, waiting)
    setImmediate(() => {
      blocks.delete(key)
      for (let i = 0; i < waiting.length; i += MAX_CALLS) {
        void answerAll(client, waiting.slice(i, i + MAX_CALLS), block)
      }
    })
  }
  return new Promise((resolve, reject) => {
    waiting.push({ call, resolve, reject })
  })
}

async function answerAll(client: ChainClient, waiting: Waiting[], block: unknown): Promise<void> {
  try {
    const calls = new Map(waiting.map(({ call }) => [keyOf(call), call]))
    const answers = await aggregate(client, [...calls.values()], block)
    const answerOf = new Map([...calls.keys()].map((key, i) => [key, answers[i] as Answer]))
    for (const { call, resolve, reject } of waiting) {
      const answer = answerOf.get(keyOf(call)) as Answer
      if (answer.success) resolve(answer.returnData)
      else reject(revertedWith(client, answer.returnData))
    }
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

/** What several ask alike is asked once. */
const keyOf = ({ to, data }: Call) => to + data

type Answer = { success: boolean; returnData: string }

async function aggregate(client: ChainClient, calls: Call[], block: unknown): Promise<Answer[]> {
  const [only, ...others] = calls
  if (others.length === 0) {
    return [{ success: true, returnData: await client.send<string>('eth_call', [only, block]) }]
  }
  const returned = await client.send<string>('eth_call', [encodeTogether(calls), block])
  return decodeAnswers(client, returned)
}

function decodeAnswers({ chain }: ChainClient, returned: string): Answer[] {
  try {
    return decodeAggregate(returned)
  } catch (cause) {
    const reason = `no Multicall3 at ${MULTICALL_ADDRESS}`
    const details = { chain: chain.name, method: 'eth_call', answered: true, reverted: false }
    const message = `${chain.name} cannot be read: ${reason}.`
    throw new ServiceError('RPC_ERROR', message, { ...details, reason }, { cause })
  }
}
