import { decodeAggregate, encodeAggregate } from './aggregate.js'
import { ServiceError } from '../../domain/errors.js'
import { isRevert, revertedWith, type ChainClient } from '../connect.js'

/**
 * Multicall3 has one address on every network. The devnet has a compatible contract there.
 * @see https://www.multicall3.com
 */
export const MULTICALL_ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** One call that makes several calls. Each may fail alone. They see Multicall3 as their caller. */
export function encodeTogether(calls: ContractRequest[]): ContractRequest {
  return { to: MULTICALL_ADDRESS, data: encodeAggregate(calls) }
}

/** Nodes bound the gas of one eth_call. */
const MAX_CALLS = 100

type ContractRequest = { to: string; data: string }
type PendingContractCall = {
  call: ContractRequest
  resolve(returned: string): void
  reject(error: unknown): void
}

/** Calls collected in this turn of the event loop, by chain and block. */
const waitingOf = new WeakMap<ChainClient, Map<string, PendingContractCall[]>>()

/**
 * Calls a contract. Calls to one chain at one block in the same turn of the event loop share one eth_call, because
 * nodes bill and limit requests. A call that reverts fails alone. The contract may see Multicall3 as its caller.
 *
 * @param block - In JSON-RPC form.
 * @returns The contract's return data; `0x` without a contract.
 * @throws {ServiceError} RPC_ERROR.
 */
export function callTogether(
  client: ChainClient,
  call: ContractRequest,
  block: unknown,
): Promise<string> {
  const blocks = waitingOf.get(client) ?? new Map<string, PendingContractCall[]>()
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

async function answerAll(
  client: ChainClient,
  waiting: PendingContractCall[],
  block: unknown,
): Promise<void> {
  try {
    const calls = new Map(waiting.map(({ call }) => [keyOf(call), call]))
    const answers = await askAll(client, [...calls.values()], block)
    const answerOf = new Map([...calls.keys()].map((key, i) => [key, answers[i] as CallAnswer]))
    for (const { call, resolve, reject } of waiting) {
      const answer = answerOf.get(keyOf(call)) as CallAnswer
      if (answer instanceof Promise) answer.then(resolve, reject)
      else if (answer.success) resolve(answer.returnData)
      else reject(revertedWith(client, answer.returnData))
    }
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

type CallAnswer = CallResult | Promise<string>

/** One answer per call. Calls behind one that burns all gas are made again, each alone. */
async function askAll(
  client: ChainClient,
  calls: ContractRequest[],
  block: unknown,
): Promise<CallAnswer[]> {
  const askAlone = (call: ContractRequest) => client.send<string>('eth_call', [call, block])
  if (calls.length === 1) return calls.map(askAlone)
  const results = await aggregate(client, calls, block).catch((error: unknown): CallResult[] => {
    if (isRevert(error)) return []
    throw error
  })
  const answered = results.length - countStarved(results)
  return calls.map((call, i) => (i < answered ? (results[i] as CallResult) : askAlone(call)))
}

/** Results without data at the end, if there are several: there was no gas for them. One alone is a plain revert. */
function countStarved(results: CallResult[]): number {
  const last = results.findLastIndex(({ success, returnData }) => success || returnData !== '0x')
  const count = results.length - 1 - last
  return count > 1 ? count : 0
}

/** Equal calls are sent once. */
const keyOf = ({ to, data }: ContractRequest) => to + data

type CallResult = { success: boolean; returnData: string }

async function aggregate(
  client: ChainClient,
  calls: ContractRequest[],
  block: unknown,
): Promise<CallResult[]> {
  const returned = await client.send<string>('eth_call', [encodeTogether(calls), block])
  return decodeAnswers(client, returned)
}

function decodeAnswers({ chain }: ChainClient, returned: string): CallResult[] {
  try {
    return decodeAggregate(returned)
  } catch (cause) {
    const reason = `no Multicall3 at ${MULTICALL_ADDRESS}`
    const details = { chain: chain.name, method: 'eth_call', answered: true, reverted: false }
    const message = `${chain.name} cannot be read: ${reason}.`
    throw new ServiceError('RPC_ERROR', message, { ...details, reason }, { cause })
  }
}
