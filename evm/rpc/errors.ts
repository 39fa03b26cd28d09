import { AbiCoder, isHexString } from 'ethers'
import { ServiceError } from '../../domain/errors.js'
import type { Chain } from '../registry.js'

/** The error object of a node. @see https://www.jsonrpc.org/specification#error_object */
export type NodeError = { code?: unknown; message: string; data?: unknown }

/** A result, or the node's own error. */
export type Reply = { result: unknown } | { error: NodeError }

/** The node did not answer: the request may or may not have reached it. `restMs`: how long it throttles requests. */
export class NoAnswer extends Error {
  readonly reason: string
  readonly restMs: number | undefined

  constructor(reason: string, restMs?: number) {
    super(reason)
    this.reason = reason
    this.restMs = restMs
  }
}

/** The endpoint refused a whole request. It may accept one with fewer calls. */
export class BatchRefused extends NoAnswer {}

/** Hides the original message: network errors may contain the URL. */
export const toNoAnswer = (error: unknown): NoAnswer =>
  error instanceof NoAnswer ? error : new NoAnswer('no answer')

/** @see https://ethereum.github.io/execution-apis/ error code 3: execution error */
const REVERT_CODE = 3
/** Messages of nodes for a call that ran and failed. */
const EXECUTION_FAILED =
  /revert|invalid opcode|bad instruction|invalid jump|out of gas|gas required exceeds|stack (under|over)flow|always failing|insufficient (funds|balance)|^EVM error/i

/** Codes for a request that the node cannot serve: internal error, unknown method, missing resource, limit. */
const UNSERVED_CODES = [-32603, -32601, -32004, -32002, -32005, -32016, -32029, -32097, 429]
const UNSERVED =
  /rate limit|too many requests|limit exceeded|exceeded|capacity|internal error|timeout|timed out/i
/** A block that this node does not have, or whose state it has pruned. */
const UNKNOWN_BLOCK =
  /header not found|block not found|unknown block|resource not found|out ?of ?range|missing trie node|not canonical|pruned|state .*not available|not found/i
/**
 * Bytes that no later block makes acceptable: too little gas, more gas than a block or transaction may have, a fee
 * above the node's cap, or too long. Messages differ between nodes.
 * @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/errors.go
 */
const UNACCEPTABLE =
  /intrinsic gas|floor data gas|exceeds (the )?block gas limit|gas limit (is )?too (high|low)|exceeds the configured cap|oversized data|initcode size/i
const KNOWN_TRANSACTION = /already known|already imported|known transaction|already exists/i

/** True when a node has run the call and it failed. */
function hasReverted(method: string, { code, message, data }: NodeError): boolean {
  if (method !== 'eth_call' && method !== 'eth_estimateGas') return false
  return code === REVERT_CODE || EXECUTION_FAILED.test(message) || isHexString(data)
}

/** Errors that throttle, by code and by message. Some nodes use -32005 for logs of too many blocks. */
const THROTTLED_CODES = [429, -32005, -32029, -32097]
const THROTTLED =
  /rate.?limit|too many requests|requests? (count|limit|rate) exceeded|compute units/i
/** Messages of nodes that accept fewer calls in one request. */
const BATCH_REFUSED = /\bbatch|too many items|(request|payload|body) too large/i

/** True when the endpoint throttles requests with an error inside an answer. */
export function isThrottled(method: string, error: NodeError): boolean {
  if (hasReverted(method, error)) return false
  if (THROTTLED.test(error.message)) return true
  return method !== 'eth_getLogs' && THROTTLED_CODES.includes(error.code as number)
}

/** True when the error concerns the request as a whole, and not one of its calls. */
export const isBatchRefusal = (method: string, error: NodeError): boolean =>
  !hasReverted(method, error) && BATCH_REFUSED.test(error.message)

/** True when another endpoint may serve the request: this one is overloaded or does not have the block. */
export function isUnserved(method: string, reply: Reply): boolean {
  if ('error' in reply) {
    const { code, message } = reply.error
    if (hasReverted(method, reply.error)) return false
    const isOne = UNSERVED_CODES.includes(code as number)
    return isOne || UNSERVED.test(message) || UNKNOWN_BLOCK.test(message)
  }
  // Receipts and transactions are null until they are mined, which is a valid answer.
  return reply.result == null && method.startsWith('eth_getBlockBy')
}

/** True when the node already has the transaction, which counts as accepted. */
export const isKnownTransaction = ({ message }: NodeError) => KNOWN_TRANSACTION.test(message)

/** True when a node rejects the bytes of a transaction permanently. */
export const isUnacceptable = ({ message }: NodeError) => UNACCEPTABLE.test(message)

/** The only place that interprets errors of nodes. */
export function toRpcError(chain: Chain, method: string, error: NodeError): ServiceError {
  const { name } = chain
  const { message } = error
  if (hasReverted(method, error)) {
    const data = revertDataIn(error.data)
    const revert = data === undefined ? { reason: message, data: null } : readRevert(data)
    return reverted(name, method, revert)
  }
  return unanswered(name, method, { answered: true, reason: message })
}

/** `reason`: why there was no answer, without the network's own message. */
export function toSilence(chain: Chain, method: string, error: unknown): ServiceError {
  const { reason } = toNoAnswer(error)
  return unanswered(chain.name, method, { answered: false, reason })
}

function unanswered(chain: string, method: string, why: { answered: boolean; reason: string }) {
  const details = { chain, method, reverted: false, ...why }
  return new ServiceError('RPC_ERROR', `${chain} did not answer ${method}.`, details)
}

/** Why a call reverted, and its return data. */
type Revert = { reason: string; data: string | null }

function reverted(chain: string, method: string, { reason, data }: Revert): ServiceError {
  const details = { chain, method, answered: true, reverted: true, reason, data }
  return new ServiceError('RPC_ERROR', `${chain} reverted ${method}: ${reason}`, details)
}

/** The error of a call that reverted inside another one, from its return data. */
export function revertedWith({ chain }: { chain: Chain }, data: string): ServiceError {
  return reverted(chain.name, 'eth_call', readRevert(data))
}

function readRevert(data: string): Revert {
  const transaction = { to: null, data: '0x' }
  const { reason, shortMessage } = AbiCoder.getBuiltinCallException('call', transaction, data)
  return { reason: reason ?? shortMessage, data }
}

/** Return data of a call. Some nodes nest it, or put a word before it. */
function revertDataIn(data: unknown): string | undefined {
  if (typeof data === 'string') return /0x(?:[0-9a-f]{2})*$/i.exec(data)?.[0]
  if (typeof data !== 'object' || data === null) return undefined
  for (const part of Object.values(data)) {
    const found = revertDataIn(part)
    if (found !== undefined) return found
  }
  return undefined
}

/** True when the node itself returned an error; false when it is unknown whether the request has reached it. */
export function didAnswer(error: unknown): boolean {
  return error instanceof ServiceError && error.details.answered === true
}

/** True when every asked endpoint has permanently rejected the bytes of a transaction. */
export const isRefusedForGood = (error: unknown): boolean =>
  didAnswer(error) && isUnacceptable({ message: String((error as ServiceError).details.reason) })

/** True when a contract reverted, or returned nothing plausible; false when the node failed. */
export const isContractFault = (error: unknown): error is ServiceError =>
  isRevert(error) || (error instanceof ServiceError && error.details.decoded === false)

/** True when a node ran the call and it reverted; false when the node itself failed. */
export function isRevert(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.details.reverted === true
}
