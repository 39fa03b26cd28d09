import { Interface, toBeHex, zeroPadValue } from 'ethers'
import { isSameAddress } from '../chains/address.js'
import { ENTRY_POINT_ADDRESS, type Chain, type Market } from '../chains/registry.js'
import { gasCostUsd } from '../domain/money.js'
import { allBridges } from '../protocols/bridges/bridges.js'
import { topicOf } from '../protocols/events.js'
import { lendingProtocol } from '../protocols/lending/markets.js'
import { explainRevert } from '../protocols/reverts.js'
import { swappedUnits } from '../protocols/swaps/uniswapV3.js'
import { entryPoint } from '../protocols/userOperation.js'
import type { Log, LogFilter, Receipt } from '../chains/read.js'
import type { MinedOperation, WatchedOperation } from '../db/lanes/booking.js'

const token = new Interface([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

const USER_OPERATION_TOPIC = topicOf(entryPoint, 'UserOperationEvent')
const REFUSAL_TOPIC = topicOf(entryPoint, 'UserOperationRevertReason')
const AUTHORIZATION_TOPIC = topicOf(token, 'AuthorizationUsed')
const CANCELLATION_TOPIC = topicOf(token, 'AuthorizationCanceled')
const AUTHORIZATION_TOPICS = [AUTHORIZATION_TOPIC, CANCELLATION_TOPIC]

/** The logs that may be outcomes of operations, by their sources. Which bridge moves money, only the plan says. */
export function outcomeFilters(chain: Chain): LogFilter[] {
  return [
    { emitters: [ENTRY_POINT_ADDRESS], topics: [[USER_OPERATION_TOPIC]] },
    { emitters: [chain.usdc.address], topics: [AUTHORIZATION_TOPICS] },
    ...allBridges.map((bridge) => bridge.mintLogs(chain)),
  ]
}

/** Filters that the outcomes of these operations pass, and few others. None for no operation. */
export function outcomeFiltersOf(chain: Chain, operations: WatchedOperation[]): LogFilter[] {
  const word = (address: string | null) => zeroPadValue(address ?? '0x', 32)
  const calls = operations.filter(({ kind }) => kind !== 'fund' && kind !== 'mint')
  const senders = [...new Set(calls.map(({ wallet }) => word(wallet)))]
  const payments = operations.filter(({ kind }) => kind === 'fund')
  const payers = [...new Set(payments.map(({ treasury }) => word(treasury)))]
  const keys = payments.map(({ chainKey }) => chainKey)
  const mints = operations.filter(({ kind }) => kind === 'mint')
  const usdc = [chain.usdc.address]
  return [
    { emitters: [ENTRY_POINT_ADDRESS], topics: [[USER_OPERATION_TOPIC], null, senders] },
    { emitters: usdc, topics: [AUTHORIZATION_TOPICS, payers, keys] },
    ...allBridges.flatMap((one) => mints.map(({ chainKey }) => one.mintLogs(chain, chainKey))),
  ].filter(({ topics }) => topics.every((options) => options === null || options.length > 0))
}

/** One filter that all of them pass. */
export function outcomeFilter(chain: Chain): LogFilter {
  const filters = outcomeFilters(chain)
  return {
    emitters: filters.flatMap(({ emitters }) => emitters),
    topics: [filters.flatMap(({ topics }) => topics[0] ?? [])],
  }
}

/**
 * The log of one operation: its key on the chain, and whether the inner call succeeded. `actor` is the
 * account that acted; a message may be received by anybody.
 */
export type OutcomeLog = {
  source: 'userOperation' | 'authorization' | 'message'
  key: string
  actor?: string
  success: boolean
  log: Log
}

/** Reads a log as an outcome; undefined for a log that only looks like one. */
export function readOutcome(chain: Chain, log: Log): OutcomeLog | undefined {
  if (log.topics[0] === USER_OPERATION_TOPIC && isSameAddress(log.address, ENTRY_POINT_ADDRESS)) {
    const event = entryPoint.parseLog(log)
    if (!event) return undefined
    const key = toBeHex((event.args.nonce as bigint) >> 64n, 24)
    const { sender, success } = event.args as unknown as { sender: string; success: boolean }
    return { source: 'userOperation', key, actor: sender, success, log }
  }
  if (isAuthorization(chain, log)) {
    const event = token.parseLog(log)
    if (!event) return undefined
    const { authorizer, nonce } = event.args as unknown as { authorizer: string; nonce: string }
    const success = log.topics[0] === AUTHORIZATION_TOPIC
    return { source: 'authorization', key: nonce, actor: authorizer, success, log }
  }
  const [key] = allBridges.flatMap((bridge) => bridge.readMint(chain, log) ?? [])
  return key === undefined ? undefined : { source: 'message', key, success: true, log }
}

const isAuthorization = ({ usdc }: Chain, { topics: [topic = ''], address }: Log) =>
  AUTHORIZATION_TOPICS.includes(topic) && isSameAddress(address, usdc.address)

/** True when the log was emitted for the account that the operation acts for: keys are per account. */
export function isOutcomeOf(outcome: OutcomeLog, operation: WatchedOperation): boolean {
  const { kind, chainKey, treasury, wallet } = operation
  if (outcome.key !== chainKey) return false
  if (kind === 'mint') return outcome.source === 'message'
  const actor = kind === 'fund' ? treasury : wallet
  return outcome.actor !== undefined && actor !== null && isSameAddress(outcome.actor, actor)
}

/** The transaction that carried an operation; a stranger may have sent it. */
export type Carrier = { receipt: Receipt; isOurs: boolean }

/** Where an operation was mined; the price is USD per ETH with 8 decimals. */
type Mining = { outcome: OutcomeLog; carrier: Carrier; ethPriceE8: bigint }

/** What the receipt of the carrying transaction says of one operation. */
export function toMined(
  chain: Chain,
  operation: WatchedOperation,
  { outcome: { log, success }, carrier, ethPriceE8 }: Mining,
): MinedOperation {
  const { receipt } = carrier
  const gasUsed = gasOf(operation, carrier, log)
  const costWei = gasUsed * receipt.gasPriceWei + l1FeeOf(operation, carrier, log)
  const moved = success ? readMoved(chain, operation, { own: log, all: receipt.logs }) : undefined
  return {
    id: operation.id,
    success,
    txHash: receipt.transactionHash,
    block: { number: log.blockNumber, hash: log.blockHash },
    logIndex: log.logIndex,
    gasUsed,
    gasCostUsd: gasCostUsd(costWei, ethPriceE8),
    units: moved?.units,
    messageSent: moved?.message,
    refusal: success ? undefined : readRefusal(log, receipt),
  }
}

/** The EntryPoint tells it right before the operation's own event. */
function readRefusal(own: Log, { logs }: Receipt): string | undefined {
  if (own.topics[0] === CANCELLATION_TOPIC) return 'the treasury could not pay, and took it back'
  const told = ownLogs(logs, own).find(
    ({ address, topics }) =>
      isSameAddress(address, ENTRY_POINT_ADDRESS) && topics[0] === REFUSAL_TOPIC,
  )
  return told && explainRevert(entryPoint.parseLog(told)?.args.revertReason)
}

/** What a stranger mints costs us nothing. */
function gasOf({ kind }: WatchedOperation, { receipt, isOurs }: Carrier, own: Log): bigint {
  if (kind === 'fund') return receipt.gasUsed
  if (kind !== 'mint') return gasShare(receipt, own)
  return isOurs ? receipt.gasUsed : 0n
}

/**
 * An operation's share of its bundle's gas: what the EntryPoint measured for it, and an equal part of
 * the rest. The first operation bears the remainder, so that the shares add up to the receipt.
 */
function gasShare(receipt: Receipt, own: Log): bigint {
  const events = receipt.logs.filter(isUserOperationEvent)
  const used = events.map((log) => entryPoint.parseLog(log)?.args.actualGasUsed as bigint)
  const rest = receipt.gasUsed - used.reduce((sum, gas) => sum + gas, 0n)
  const index = events.findIndex(({ logIndex }) => logIndex === own.logIndex)
  return (used[index] ?? 0n) + equalPart(rest, events.length, index)
}

/** Part of a whole that so many bear alike; the first one bears the remainder too. */
function equalPart(whole: bigint, count: number, index: number): bigint {
  const part = whole / BigInt(count)
  return index === 0 ? whole - part * BigInt(count - 1) : part
}

/** An operation's share of the fee for L1: the operations of a bundle are of much the same length. */
function l1FeeOf({ kind }: WatchedOperation, { receipt, isOurs }: Carrier, own: Log): bigint {
  if (kind === 'fund') return receipt.l1FeeWei
  if (kind === 'mint') return isOurs ? receipt.l1FeeWei : 0n
  const events = receipt.logs.filter(isUserOperationEvent)
  const index = events.findIndex(({ logIndex }) => logIndex === own.logIndex)
  return equalPart(receipt.l1FeeWei, events.length, index)
}

/** Base units that an operation has moved, from its own logs; of a burn its message too. */
type Moved = { units: bigint; message?: string | undefined }

/** The log of one operation's outcome, and all of its transaction. */
type Told = { own: Log; all: Log[] }

function readMoved(chain: Chain, { kind, wallet }: WatchedOperation, told: Told): Moved {
  const logs = ownLogs(told.all, told.own)
  const sumMarkets = (unitsOf: (market: Market) => bigint) =>
    chain.markets.reduce((sum, market) => sum + unitsOf(market), 0n)
  switch (kind) {
    case 'fund':
      return { units: transferredUnits(chain, wallet, told) }
    case 'mint':
      return { units: mintedUnits(chain, wallet, told) }
    case 'bridge':
      return readBurned(chain, wallet, logs)
    case 'swap':
      return { units: swappedUnits(chain, wallet, logs) }
    case 'deposit':
      return { units: sumMarkets((m) => lendingProtocol(m).depositedUnits(m, wallet, logs)) }
    case 'withdraw':
      return { units: sumMarkets((m) => lendingProtocol(m).withdrawnUnits(m, wallet, logs)) }
  }
}

function mintedUnits(chain: Chain, wallet: string, { own, all }: Told): bigint {
  const bridge = allBridges.find(({ readMint }) => readMint(chain, own) !== undefined)
  return bridge?.mintedUnits(chain, wallet, { logs: all, minted: own }) ?? 0n
}

function readBurned(chain: Chain, wallet: string, logs: Log[]): Moved {
  const burns = allBridges.map((bridge) => bridge.readBurn(chain, wallet, logs))
  return burns.find(({ units }) => units > 0n) ?? { units: 0n }
}

/**
 * The logs that the operation's own call emitted: those between the EntryPoint's last mark before its
 * event and the event. A contract that wraps our operation cannot put its logs in between.
 */
function ownLogs(logs: Log[], own: Log): Log[] {
  const before = logs.filter((log) => log.logIndex < own.logIndex)
  const mark = before.findLast(
    (log) => isSameAddress(log.address, ENTRY_POINT_ADDRESS) && isMark(log.topics[0]),
  )
  return before.filter((log) => log.logIndex > (mark?.logIndex ?? -1))
}

const marks = [topicOf(entryPoint, 'BeforeExecution'), USER_OPERATION_TOPIC]
const isMark = (topic: string | undefined) => topic !== undefined && marks.includes(topic)

const isUserOperationEvent = (log: Log) =>
  log.topics[0] === USER_OPERATION_TOPIC && isSameAddress(log.address, ENTRY_POINT_ADDRESS)

/** The transfer that follows the authorization's own log. */
function transferredUnits(chain: Chain, wallet: string, { own, all }: Told) {
  const transfer = all
    .filter((log) => log.logIndex > own.logIndex && isSameAddress(log.address, chain.usdc.address))
    .map((log) => token.parseLog(log))
    .find((event) => event?.name === 'Transfer' && event.args.to === wallet)
  return (transfer?.args.value as bigint | undefined) ?? 0n
}
