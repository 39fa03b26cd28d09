import { AbiCoder, isHexString } from 'ethers'
import { ServiceError } from '../../domain/errors.js'
import type { Chain } from '../registry.js'

/** What a node says in place of a result. @see https://www.jsonrpc.org/specification#error_object */
export type NodeError = { code?: unknown; message: string; data?: unknown }

/** A result, or the node's own no. */
export type Reply = { result: unknown } | { error: NodeError }

/**
 * Nothing was heard of the node itself: it is unknown whether the request has reached it. `restMs`: it is asked
 * to be left alone for so long.
 */
export class NoAnswer extends Error {
  readonly reason: string
  readonly restMs: number | undefined

  constructor(reason: string, restMs?: number) {
    super(reason)
    this.reason = reason
    this.restMs = restMs
  }
}

/** Whatever the network says may name the address: nothing of it is passed on. */
export const toNoAnswer = (error: unknown): NoAnswer =>
  error instanceof NoAnswer ? error : new NoAnswer('no answer')

/** @see https://ethereum.github.io/execution-apis/ error code 3: execution error */
const REVERT_CODE = 3
/** How nodes say that a call was run and failed. */
const EXECUTION_FAILED =
  /revert|invalid opcode|bad instruction|invalid jump|out of gas|gas required exceeds|stack (under|over)flow|always failing|insufficient (funds|balance)|^EVM error/i

/** Codes of a node that cannot serve now or not this: internal error, no such method, resource, limit. */
const UNSERVED_CODES = [-32603, -32601, -32004, -32002, -32005, -32016, -32029, -32097, 429]
const UNSERVED =
  /rate limit|too many requests|limit exceeded|exceeded|capacity|internal error|timeout|timed out/i
/** A block that this node does not have, or whose state it has pruned. */
const UNKNOWN_BLOCK =
  /header not found|block not found|unknown block|resource not found|out ?of ?range|missing trie node|not canonical|pruned|state .*not available|not found/i
/**
 * Bytes that no later block makes acceptable: too little gas for them, more than a block or a transaction may have,
 * a fee above a node's own cap, too long. Nodes differ in their words.
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

/** True for what another endpoint may know better: this one is overloaded, or lacks the block. */
export function isUnserved(method: string, reply: Reply): boolean {
  if ('error' in reply) {
    const { code, message } = reply.error
    if (hasReverted(method, reply.error)) return false
    const isOne = UNSERVED_CODES.includes(code as number)
    return isOne || UNSERVED.test(message) || UNKNOWN_BLOCK.test(message)
  }
  // Receipts and transactions are null as long as they are not mined: that is an answer.
  return reply.result == null && method.startsWith('eth_getBlockBy')
}

/** True when the node has the transaction already: as good as taken. */
export const isKnownTransaction = ({ message }: NodeError) => KNOWN_TRANSACTION.test(message)

/** True when a node refuses a transaction's bytes for a reason that no time mends. */
export const isUnacceptable = ({ message }: NodeError) => UNACCEPTABLE.test(message)

/** The one place where errors of nodes are read. */
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

/** `reason`: why there was no answer, without a word of the network's own. */
export function toSilence(chain: Chain, method: string, error: unknown): ServiceError {
  const { reason } = toNoAnswer(error)
  return unanswered(chain.name, method, { answered: false, reason })
}

function unanswered(chain: string, method: string, why: { answered: boolean; reason: string }) {
  const details = { chain, method, reverted: false, ...why }
  return new ServiceError('RPC_ERROR', `${chain} did not answer ${method}.`, details)
}

/** Why a call was reverted, and what it returned. */
type Revert = { reason: string; data: string | null }

function reverted(chain: string, method: string, { reason, data }: Revert): ServiceError {
  const details = { chain, method, answered: true, reverted: true, reason, data }
  return new ServiceError('RPC_ERROR', `${chain} reverted ${method}: ${reason}`, details)
}

/** The error of a call that reverted inside another one, with what it returned. */
export function revertedWith({ chain }: { chain: Chain }, data: string): ServiceError {
  return reverted(chain.name, 'eth_call', readRevert(data))
}

function readRevert(data: string): Revert {
  const transaction = { to: null, data: '0x' }
  const { reason, shortMessage } = AbiCoder.getBuiltinCallException('call', transaction, data)
  return { reason: reason ?? shortMessage, data }
}

/** What a call has returned, which some nodes wrap, or write behind a word. */
function revertDataIn(data: unknown): string | undefined {
  if (typeof data === 'string') return /0x(?:[0-9a-f]{2})*$/i.exec(data)?.[0]
  if (typeof data !== 'object' || data === null) return undefined
  for (const part of Object.values(data)) {
    const found = revertDataIn(part)
    if (found !== undefined) return found
  }
  return undefined
}

/** True when the node itself refused, false when it is unknown whether the request has reached it. */
export function didAnswer(error: unknown): boolean {
  return error instanceof ServiceError && error.details.answered === true
}

/** True when every endpoint that was asked has refused the bytes of a transaction for good. */
export const isRefusedForGood = (error: unknown): boolean =>
  didAnswer(error) && isUnacceptable({ message: String((error as ServiceError).details.reason) })

/** True when a node ran the call and it reverted, false when the node itself failed. */
export function isRevert(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.details.reverted === true
}
