import { Interface, toBeHex } from 'ethers'
import { entryPointAddress, type Chain } from '../chains/registry.js'
import { gasCostUsd } from '../domain/money.js'
import { lendingProtocol } from '../protocols/markets.js'
import { entryPoint } from './userOperation.js'
import type { Log, Receipt } from '../chains/read.js'
import type { MinedOperation, WatchedOperation } from '../db/booking.js'

const token = new Interface([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

const userOperationTopic = topicOf(entryPoint, 'UserOperationEvent')
const authorizationTopic = topicOf(token, 'AuthorizationUsed')

/** First topics of the logs that are outcomes of operations, and who emits them. */
export const outcomeTopics = [userOperationTopic, authorizationTopic]
export const outcomeEmitters = (chain: Chain) => [entryPointAddress, chain.usdc.address]

/** The log of one operation: its key on the chain, who acted, and whether the inner call succeeded. */
export type OutcomeLog = { key: string; actor: string; success: boolean; log: Log }

/** Reads a log as an outcome; undefined for a log that only looks like one. */
export function readOutcome(chain: Chain, log: Log): OutcomeLog | undefined {
  if (log.topics[0] === userOperationTopic && same(log.address, entryPointAddress)) {
    const event = entryPoint.parseLog(log)
    if (!event) return undefined
    const key = toBeHex((event.args.nonce as bigint) >> 64n, 24)
    return { key, actor: event.args.sender as string, success: event.args.success as boolean, log }
  }
  if (log.topics[0] === authorizationTopic && same(log.address, chain.usdc.address)) {
    const event = token.parseLog(log)
    if (!event) return undefined
    const { authorizer, nonce } = event.args as unknown as { authorizer: string; nonce: string }
    return { key: nonce, actor: authorizer, success: true, log }
  }
  return undefined
}

/** True when the log was emitted for the account that the operation acts for: keys are per account. */
export function isOutcomeOf(outcome: OutcomeLog, operation: WatchedOperation): boolean {
  const actor = operation.kind === 'fund' ? operation.treasury : operation.wallet
  return outcome.key === operation.chainKey && actor !== null && same(outcome.actor, actor)
}

/** What the receipt of the carrying transaction says of one operation. */
export function toMined(
  chain: Chain,
  operation: WatchedOperation,
  { log, success }: OutcomeLog,
  receipt: Receipt,
  ethPriceE8: bigint,
): MinedOperation {
  const gasUsed = operation.kind === 'fund' ? receipt.gasUsed : gasShare(receipt, log)
  return {
    id: operation.id,
    success,
    txHash: receipt.transactionHash,
    block: { number: log.blockNumber, hash: log.blockHash },
    logIndex: log.logIndex,
    gasUsed,
    gasCostUsd: gasCostUsd(gasUsed * receipt.gasPriceWei, ethPriceE8),
    units: success ? movedUnits(chain, operation, log, receipt) : undefined,
  }
}

/**
 * An operation's share of its bundle's gas: what the EntryPoint measured for it, and an equal part of
 * the rest. The first operation bears the remainder, so that the shares add up to the receipt.
 */
function gasShare(receipt: Receipt, own: Log): bigint {
  const events = receipt.logs.filter(isUserOperationEvent)
  const used = events.map((log) => entryPoint.parseLog(log)?.args.actualGasUsed as bigint)
  const rest = receipt.gasUsed - used.reduce((sum, gas) => sum + gas, 0n)
  const count = BigInt(events.length)
  const index = events.findIndex(({ logIndex }) => logIndex === own.logIndex)
  const equalPart = rest / count
  const remainder = index === 0 ? rest - equalPart * count : 0n
  return (used[index] ?? 0n) + equalPart + remainder
}

function movedUnits(chain: Chain, operation: WatchedOperation, own: Log, receipt: Receipt): bigint {
  if (operation.kind === 'fund') return transferredUnits(chain, operation, own, receipt.logs)
  const logs = ownLogs(receipt.logs, own)
  return chain.markets.reduce(
    (sum, market) => sum + lendingProtocol(market).depositedUnits(market, operation.wallet, logs),
    0n,
  )
}

/**
 * The logs that the operation's own call emitted: those between the EntryPoint's last mark before its
 * event and the event. A contract that wraps our operation cannot put its logs in between.
 */
function ownLogs(logs: Log[], own: Log): Log[] {
  const before = logs.filter((log) => log.logIndex < own.logIndex)
  const mark = before.findLast(
    (log) => same(log.address, entryPointAddress) && isMark(log.topics[0]),
  )
  return before.filter((log) => log.logIndex > (mark?.logIndex ?? -1))
}

const marks = [topicOf(entryPoint, 'BeforeExecution'), userOperationTopic]
const isMark = (topic: string | undefined) => topic !== undefined && marks.includes(topic)

const isUserOperationEvent = (log: Log) =>
  log.topics[0] === userOperationTopic && same(log.address, entryPointAddress)

/** The transfer that follows the authorization's own log. */
function transferredUnits(chain: Chain, operation: WatchedOperation, own: Log, logs: Log[]) {
  const transfer = logs
    .filter((log) => log.logIndex > own.logIndex && same(log.address, chain.usdc.address))
    .map((log) => token.parseLog(log))
    .find((event) => event?.name === 'Transfer' && event.args.to === operation.wallet)
  return (transfer?.args.value as bigint | undefined) ?? 0n
}

function topicOf(abi: Interface, event: string): string {
  const fragment = abi.getEvent(event)
  if (!fragment) throw new Error(`No event ${event}.`)
  return fragment.topicHash
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
