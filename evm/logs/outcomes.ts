import { Interface, zeroPadValue } from 'ethers'
import { isSameAddress } from '../address.js'
import { ENTRY_POINT_ADDRESS, type Chain, type Market } from '../registry.js'
import { allBridges } from '../bridges/bridges.js'
import { topicOf } from './events.js'
import { lendingProtocol } from '../lending/markets.js'
import { swappedUnits } from '../swaps/uniswapV3.js'
import { entryPoint, readExecuted } from '../calls/userOperation.js'
import type { EventLog, LogFilter } from '../read.js'
import type { OperationKind } from '../../domain/intent/operation.js'

const token = new Interface([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

const USER_OPERATION_TOPIC = topicOf(entryPoint, 'UserOperationEvent')
const AUTHORIZATION_TOPIC = topicOf(token, 'AuthorizationUsed')
const CANCELLATION_TOPIC = topicOf(token, 'AuthorizationCanceled')
const TRANSFER_TOPIC = topicOf(token, 'Transfer')
const AUTHORIZATION_TOPICS = [AUTHORIZATION_TOPIC, CANCELLATION_TOPIC]

/** Filters of all possible outcomes, by source. All bridges are included, because only the plan names the bridge. */
function outcomeFilters(chain: Chain): LogFilter[] {
  return [
    { emitters: [ENTRY_POINT_ADDRESS], topics: [[USER_OPERATION_TOPIC]] },
    { emitters: [chain.usdc.address], topics: [AUTHORIZATION_TOPICS] },
    ...allBridges.map((bridge) => bridge.mintLogs(chain)),
  ]
}

/** Narrow filters for the outcomes of these operations; none for no operation. */
export function outcomeFiltersOf(chain: Chain, operations: Expected[]): LogFilter[] {
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

/** One filter that matches all outcomes. */
export function outcomeFilter(chain: Chain): LogFilter {
  const filters = outcomeFilters(chain)
  return {
    emitters: filters.flatMap(({ emitters }) => emitters),
    topics: [filters.flatMap(({ topics }) => topics[0] ?? [])],
  }
}

/**
 * The outcome log of one operation: its key on the chain, and whether the inner call succeeded. `actor`: the account
 * that acted; absent for a message, which any account may deliver.
 */
export type OutcomeLog = {
  source: 'userOperation' | 'authorization' | 'message'
  key: string
  actor?: string
  success: boolean
  log: EventLog
}

/** Reads a log as an outcome; undefined for other logs. */
export function readOutcome(chain: Chain, log: EventLog): OutcomeLog | undefined {
  if (isUserOperationEvent(log)) {
    const { key, sender, success } = readExecuted(log)
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

/** True for the log of a cancelled funding, which can never be paid. */
export const isCancellation = ({ topics }: EventLog) => topics[0] === CANCELLATION_TOPIC

const isAuthorization = ({ usdc }: Chain, { topics: [topic = ''], address }: EventLog) =>
  AUTHORIZATION_TOPICS.includes(topic) && isSameAddress(address, usdc.address)

/** The identity of an operation before it is found on the chain. `treasury`: the payer of a funding. */
export type Expected = {
  kind: OperationKind
  chainKey: string
  wallet: string
  treasury: string | null
}

/** True when the log was emitted for the operation's own account: keys are per account. */
export function isOutcomeOf(outcome: OutcomeLog, operation: Expected): boolean {
  const { kind, chainKey, treasury, wallet } = operation
  if (outcome.key !== chainKey) return false
  if (kind === 'mint') return outcome.source === 'message'
  const actor = kind === 'fund' ? treasury : wallet
  return outcome.actor !== undefined && actor !== null && isSameAddress(outcome.actor, actor)
}

/**
 * Base units that an operation has moved, from its own logs. `message`: the message of a burn. `market`: that of a deposit
 * or withdrawal.
 */
export type Moved = { units: bigint; message?: string | undefined; market?: Market | undefined }

/** The outcome log of one operation, and all logs of its transaction. */
type OperationLogs = { own: EventLog; all: EventLog[] }

export function readMoved(
  chain: Chain,
  { kind, wallet }: Pick<Expected, 'kind' | 'wallet'>,
  operationLogs: OperationLogs,
): Moved {
  const logs = ownLogs(operationLogs.all, operationLogs.own)
  const sumMarkets = (unitsOf: (market: Market) => bigint): Moved => {
    const moved = chain.markets.map((market) => ({ market, units: unitsOf(market) }))
    const units = moved.reduce((sum, one) => sum + one.units, 0n)
    return { units, market: moved.find((one) => one.units > 0n)?.market }
  }
  switch (kind) {
    case 'fund':
      return { units: transferredUnits(chain, wallet, operationLogs) }
    case 'mint':
      return { units: mintedUnits(chain, wallet, operationLogs) }
    case 'bridge':
      return readBurned(chain, wallet, logs)
    case 'swap':
      return { units: swappedUnits(chain, wallet, logs) }
    case 'deposit':
      return sumMarkets((m) => lendingProtocol(m).depositedUnits(m, wallet, logs))
    case 'withdraw':
      return sumMarkets((m) => lendingProtocol(m).withdrawnUnits(m, wallet, logs))
  }
}

function mintedUnits(chain: Chain, wallet: string, { own, all }: OperationLogs): bigint {
  const bridge = allBridges.find(({ readMint }) => readMint(chain, own) !== undefined)
  return bridge?.mintedUnits(chain, wallet, { logs: all, minted: own }) ?? 0n
}

function readBurned(chain: Chain, wallet: string, logs: EventLog[]): Moved {
  const burns = allBridges.map((bridge) => bridge.readBurn(chain, wallet, logs))
  return burns.find(({ units }) => units > 0n) ?? { units: 0n }
}

/**
 * The logs that the operation's own call emitted: those between the EntryPoint's previous marker event and the
 * operation's event. A contract that wraps our operation cannot insert logs there.
 */
export function ownLogs(logs: EventLog[], own: EventLog): EventLog[] {
  const before = logs.filter((log) => log.logIndex < own.logIndex)
  const mark = before.findLast(
    (log) => isSameAddress(log.address, ENTRY_POINT_ADDRESS) && isMark(log.topics[0]),
  )
  return before.filter((log) => log.logIndex > (mark?.logIndex ?? -1))
}

const marks = [topicOf(entryPoint, 'BeforeExecution'), USER_OPERATION_TOPIC]
const isMark = (topic: string | undefined) => topic !== undefined && marks.includes(topic)

export const isUserOperationEvent = (log: EventLog) =>
  log.topics[0] === USER_OPERATION_TOPIC && isSameAddress(log.address, ENTRY_POINT_ADDRESS)

/**
 * Base units of the first transfer to the wallet after the authorization's own log. Only that log is decoded, because
 * payments share a transaction and each reads the logs of all.
 */
function transferredUnits({ usdc }: Chain, wallet: string, { own, all }: OperationLogs): bigint {
  const to = zeroPadValue(wallet, 32)
  const transfer = all.find(
    ({ logIndex, topics, address }) =>
      logIndex > own.logIndex &&
      topics[0] === TRANSFER_TOPIC &&
      topics[2] === to &&
      isSameAddress(address, usdc.address),
  )
  return BigInt(transfer?.data ?? 0)
}
