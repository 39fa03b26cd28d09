import { isSameAddress } from '../chains/address.js'
import { ENTRY_POINT_ADDRESS, type Chain } from '../chains/registry.js'
import { gasCostUsd } from '../domain/money.js'
import { topicOf } from '../protocols/events.js'
import {
  isCancellation,
  isUserOperationEvent,
  ownLogs,
  readMoved,
  type OutcomeLog,
} from '../protocols/outcomes.js'
import { explainRevert } from '../protocols/reverts.js'
import { entryPoint } from '../protocols/userOperation.js'
import type { Log, Receipt } from '../chains/read.js'
import type { MinedOperation, WatchedOperation } from '../db/lanes/booking.js'

const REFUSAL_TOPIC = topicOf(entryPoint, 'UserOperationRevertReason')

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
    minedAt: log.minedAt,
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
  if (isCancellation(own)) return 'the treasury could not pay, and took it back'
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
  const bundled = readBundled(receipt)
  const rest = receipt.gasUsed - bundled.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  const index = bundled.findIndex(({ logIndex }) => logIndex === own.logIndex)
  return (bundled[index]?.gasUsed ?? 0n) + equalPart(rest, bundled.length, index)
}

/** Where an operation of a bundle was told, and the gas that the EntryPoint measured for it. */
type Bundled = { logIndex: number; gasUsed: bigint }

/** Each operation of a bundle asks for all of them: they are read once. */
const bundledIn = new WeakMap<Receipt, Bundled[]>()

function readBundled(receipt: Receipt): Bundled[] {
  const known = bundledIn.get(receipt)
  if (known) return known
  const read = receipt.logs.filter(isUserOperationEvent).map((log) => ({
    logIndex: log.logIndex,
    gasUsed: entryPoint.parseLog(log)?.args.actualGasUsed as bigint,
  }))
  bundledIn.set(receipt, read)
  return read
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
  const bundled = readBundled(receipt)
  const index = bundled.findIndex(({ logIndex }) => logIndex === own.logIndex)
  return equalPart(receipt.l1FeeWei, bundled.length, index)
}
