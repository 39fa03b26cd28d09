import { isSameAddress } from '../evm/address.js'
import { ENTRY_POINT_ADDRESS, type Chain, type Market } from '../evm/registry.js'
import { gasCostUsd } from '../domain/money.js'
import { topicOf } from '../evm/logs/events.js'
import {
  isCancellation,
  isUserOperationEvent,
  ownLogs,
  readMoved,
  readOutcome,
  type OutcomeLog,
} from '../evm/logs/outcomes.js'
import { explainRevert } from '../evm/calls/reverts.js'
import { entryPoint, readExecuted } from '../evm/calls/userOperation.js'
import type { EventLog, Receipt } from '../evm/read.js'
import type { MinedOperation } from '../operations/indexing/outcomes.js'
import type { WatchedOperation } from '../operations/indexing/watched.js'

const REVERT_REASON_TOPIC = topicOf(entryPoint, 'UserOperationRevertReason')

/** The transaction that included an operation. Another party may have sent it. */
export type ExecutingTransaction = { receipt: Receipt; isOurs: boolean }

/** Where an operation was mined. `ethPriceE8`: USD per ETH with 8 decimals, undefined when unknown. */
type Mining = {
  outcome: OutcomeLog
  bundleTransaction: ExecutingTransaction
  ethPriceE8: bigint | undefined
}

/** The result of one operation in the receipt of its transaction. */
export function toMined(
  chain: Chain,
  operation: WatchedOperation,
  { outcome: { log, success }, bundleTransaction, ethPriceE8 }: Mining,
): MinedOperation & { market?: Market | undefined } {
  const { receipt } = bundleTransaction
  const share = shareOf(chain, operation, { bundleTransaction, own: log })
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
    gasCostUsd: ethPriceE8 === undefined ? null : gasCostUsd(costWei, ethPriceE8),
    units: moved?.units,
    market: moved?.market,
    messageSent: moved?.message,
    refusal: success ? undefined : readRevertReason(log, receipt),
  }
}

/** The EntryPoint emits it right before the operation's own event. */
function readRevertReason(own: EventLog, { logs }: Receipt): string | undefined {
  if (isCancellation(own)) return 'the treasury could not pay and cancelled the payment'
  const revertLog = ownLogs(logs, own).find(
    ({ address, topics }) =>
      isSameAddress(address, ENTRY_POINT_ADDRESS) && topics[0] === REVERT_REASON_TOPIC,
  )
  return revertLog && explainRevert(entryPoint.parseLog(revertLog)?.args.revertReason)
}

/**
 * An operation's share of the cost of its transaction; 0 for a mint in a foreign transaction. The EntryPoint reports
 * the gas of each user operation. Payments and mints, and the L1 fee, are shared equally, because their sizes are
 * similar.
 */
function shareOf(
  chain: Chain,
  { kind }: WatchedOperation,
  {
    bundleTransaction: { receipt, isOurs },
    own,
  }: { bundleTransaction: ExecutingTransaction; own: EventLog },
): { gasUsed: bigint; l1FeeWei: bigint } {
  if (kind === 'mint' && !isOurs) return { gasUsed: 0n, l1FeeWei: 0n }
  const siblings =
    kind === 'mint' || kind === 'fund' ? directIn(chain, receipt) : bundledIn(receipt)
  const index = siblings.shares.findIndex(({ logIndex }) => logIndex === own.logIndex)
  const rest = equalPart(siblings.restGas, siblings.shares.length, index)
  return {
    gasUsed: (siblings.shares[index]?.gasUsed ?? 0n) + rest,
    l1FeeWei: equalPart(receipt.l1FeeWei, siblings.shares.length, index),
  }
}

/** The operations of one transaction: the measured gas of each, and the remaining gas of the transaction. */
type Siblings = { shares: { logIndex: number; gasUsed: bigint }[]; restGas: bigint }

/** Cached, because each operation of a transaction reads all of them. */
const bundled = new WeakMap<Receipt, Siblings>()
const direct = new WeakMap<Receipt, Siblings>()

function bundledIn(receipt: Receipt): Siblings {
  return (
    bundled.get(receipt) ??
    keep(bundled, receipt, receipt.logs.filter(isUserOperationEvent).map(measuredGas))
  )
}

function directIn(chain: Chain, receipt: Receipt): Siblings {
  const known = direct.get(receipt)
  if (known) return known
  const own = receipt.logs.filter(isDirectOutcome(chain))
  return keep(
    direct,
    receipt,
    own.map(({ logIndex }) => ({ logIndex, gasUsed: 0n })),
  )
}

function keep(
  known: WeakMap<Receipt, Siblings>,
  receipt: Receipt,
  shares: Siblings['shares'],
): Siblings {
  const measured = shares.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  const siblings = { shares, restGas: receipt.gasUsed - measured }
  known.set(receipt, siblings)
  return siblings
}

const measuredGas = (log: EventLog) => ({
  logIndex: log.logIndex,
  gasUsed: readExecuted(log).gasUsed,
})

const isDirectOutcome = (chain: Chain) => (log: EventLog) => {
  const outcome = readOutcome(chain, log)
  return outcome !== undefined && outcome.source !== 'userOperation'
}

/** An equal part of a total. The first one includes the remainder. */
function equalPart(whole: bigint, count: number, index: number): bigint {
  if (count <= 1) return whole
  const part = whole / BigInt(count)
  return index === 0 ? whole - part * BigInt(count - 1) : part
}
