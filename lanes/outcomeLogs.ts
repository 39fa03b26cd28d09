import { isSameAddress } from '../chains/address.js'
import { ENTRY_POINT_ADDRESS, type Chain } from '../chains/registry.js'
import { gasCostUsd } from '../domain/money.js'
import { topicOf } from '../protocols/events.js'
import {
  isCancellation,
  isUserOperationEvent,
  ownLogs,
  readMoved,
  readOutcome,
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
  const share = shareOf(chain, operation, { carrier, own: log })
  const gasUsed = share.gasUsed
  const costWei = gasUsed * receipt.gasPriceWei + share.l1FeeWei
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

/**
 * An operation's share of what its transaction cost; what a stranger mints costs us nothing. Of user operations
 * the EntryPoint tells what each has used; payments and mints, like the fee for L1, are of much the same size.
 */
function shareOf(
  chain: Chain,
  { kind }: WatchedOperation,
  { carrier: { receipt, isOurs }, own }: { carrier: Carrier; own: Log },
): { gasUsed: bigint; l1FeeWei: bigint } {
  if (kind === 'mint' && !isOurs) return { gasUsed: 0n, l1FeeWei: 0n }
  const isDirect = kind === 'mint' || kind === 'fund'
  const isSibling = isDirect ? isDirectOutcome(chain) : isUserOperationEvent
  const siblings = receipt.logs.filter(isSibling)
  const index = siblings.findIndex(({ logIndex }) => logIndex === own.logIndex)
  const l1FeeWei = equalPart(receipt.l1FeeWei, siblings.length, index)
  return isDirect
    ? { gasUsed: equalPart(receipt.gasUsed, siblings.length, index), l1FeeWei }
    : { gasUsed: gasShare(receipt.gasUsed, siblings, index), l1FeeWei }
}

const isDirectOutcome = (chain: Chain) => (log: Log) => {
  const outcome = readOutcome(chain, log)
  return outcome !== undefined && outcome.source !== 'userOperation'
}

/**
 * An operation's share of its bundle's gas: what the EntryPoint measured for it, and an equal part of
 * the rest. The first operation bears the remainder, so that the shares add up to the receipt.
 */
function gasShare(gasUsed: bigint, events: Log[], index: number): bigint {
  const used = events.map((log) => entryPoint.parseLog(log)?.args.actualGasUsed as bigint)
  const rest = gasUsed - used.reduce((sum, gas) => sum + gas, 0n)
  return (used[index] ?? 0n) + equalPart(rest, events.length, index)
}

/** Part of a whole that so many bear alike; the first one bears the remainder too, and one alone all of it. */
function equalPart(whole: bigint, count: number, index: number): bigint {
  if (count <= 1) return whole
  const part = whole / BigInt(count)
  return index === 0 ? whole - part * BigInt(count - 1) : part
}
