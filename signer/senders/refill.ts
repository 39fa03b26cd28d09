import { setTimeout as sleep } from 'node:timers/promises'
import { disabledBecause, type ChainClient } from '../../evm/connect.js'
import { variableSuffix } from '../../evm/facts.js'
import { highestL1Part } from '../../evm/l1Costs.js'
import {
  clearOutOfGas,
  lockRefill,
  readRefilledSenders,
  markOutOfGas,
  setRefill,
  sumCosts,
  sumMoved,
  type RefilledSender,
} from '../../operations/signing/senderGas.js'
import { lockNextNonce } from '../../operations/signing/signing.js'
import { readWithheld } from '../../db/pauses.js'
import { fromUnits, largest, smallest } from '../../domain/money.js'
import { gasLimitOf } from '../../evm/calls/userOperation.js'
import {
  readPrices,
  readSenderBalance,
  usualCost,
  type Prices,
  type SenderBalance,
} from '../signingContext.js'
import { openAccount } from '../../custody/open.js'
import { senderKeyContext, storePlanned } from '../store.js'
import type { Planned } from '../build/transaction.js'
import type { ChainName } from '../../evm/registry.js'
import type { RefillLimits } from '../../domain/refill.js'
import type { SignerTools } from '../signingContext.js'

/** Pause between two checks while a sender waits for gas, or after a signature or deferral. */
const LOOK_MS = 5_000
/** Longest pause between two checks: notifications may be lost, and fees change. A check takes some ten calls. */
export const REFILL_IDLE_MS = 3_600_000
/** Refill target in usual transactions at current fees. A sender below a quarter of it is refilled. */
const HIGH_TRANSACTIONS = 400n
const LOW_PART = 4n
/** A refill that pays for fewer usual transactions is not worth its own cost. */
const LEAST_TRANSACTIONS = 10n

/**
 * `reported`: senders that cannot be refilled, by chain and address, so that each is logged once. `lookMs`: pause
 * between two checks, ms.
 */
export type RefillTools = Pick<SignerTools, 'db' | 'chains' | 'keyring' | 'log'> & {
  limits: Record<ChainName, RefillLimits>
  reported: Set<string>
  lookMs?: number
}

/**
 * Keeps the senders of all chains supplied with gas until the signal aborts. A chain is checked after a signature or
 * deferral, and while one of its senders waits for gas. A chain without activity is not checked.
 *
 * @param nextChange - Resolves after a signature or deferral, or after the given milliseconds.
 */
export async function runRefills(
  tools: RefillTools,
  nextChange: (timeoutMs: number, chainId: number) => Promise<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  const { lookMs = LOOK_MS } = tools
  const pause = () => sleep(lookMs, undefined, { signal: stopping }).catch(() => undefined)
  const keepFilled = async (client: ChainClient) => {
    await pause()
    while (!stopping.aborted) {
      const change = nextChange(REFILL_IDLE_MS, client.chain.chainId)
      const areFilled = await refillOnce(tools, client).catch((error: unknown) => {
        tools.log.warn({ err: error, chain: client.chain.name }, 'senders not checked')
        return false
      })
      if (areFilled) await change
      await pause()
    }
  }
  await Promise.all(tools.chains.list.map(keepFilled))
}

/** The state of one check of a chain. The treasury's balance is read at the block of the prices. */
type RefillCheck = {
  client: ChainClient
  prices: Prices
  usual: { gas: bigint; wei: bigint }
  limits: RefillLimits
  treasury: RefilledSender & SenderBalance
}

/**
 * Checks the senders of a chain once: stores which are out of gas, and lets the treasury refill those that are low.
 * A refill counts as pending until the block of this check has executed it, so that a reorg or a second signer never
 * sends it twice.
 *
 * @returns True when all senders have enough gas.
 */
export async function refillOnce(tools: RefillTools, client: ChainClient): Promise<boolean> {
  const { chain } = client
  if (disabledBecause(client, 'chain') || tools.keyring.stopFile.isThere()) return true
  const senders = await readRefilledSenders(tools.db, chain.chainId)
  if (!senders.some(({ purpose }) => purpose === 'treasury')) return true
  const prices = await readPrices(client)
  const balances = await Promise.all(
    senders.map(async (one) => ({
      ...one,
      ...(await readSenderBalance(client, one.address, { blockHash: prices.headHash })),
    })),
  )
  const treasury = balances.find(({ purpose }) => purpose === 'treasury')
  if (!treasury) return true
  const limits = tools.limits[chain.name]
  const check = { client, prices, usual: usualCost(chain, prices), limits, treasury }
  let areFilled = true
  // One after the other: each transfer leaves less for the next one.
  for (const sender of balances.filter(({ purpose }) => purpose === 'operations')) {
    if (!(await keepSenderFilled(tools, check, sender))) areFilled = false
  }
  return areFilled
}

/** Wei that a sender can spend, and the wei that it must have to pay a transaction. Stores whether it is out of gas. */
async function updateDryness(
  { db }: RefillTools,
  { prices, usual }: RefillCheck,
  sender: RefilledSender & SenderBalance,
): Promise<{ spendable: bigint; need: bigint }> {
  const spendable = sender.balanceWei - (await sumCosts(db, sender, sender.usedNonces))
  const isOutOfGas = sender.unpaidGas !== null
  const need = isOutOfGas ? BigInt(sender.unpaidGas ?? 0) * prices.fees.maxWei : usual.wei
  if (isOutOfGas && spendable >= need) await clearOutOfGas(db, sender)
  if (!isOutOfGas && spendable < need) await markOutOfGas(db, sender, usual.gas)
  return { spendable, need }
}

/** True when the sender has enough gas; else the treasury refills it, unless a refill is pending or impossible. */
async function keepSenderFilled(
  tools: RefillTools,
  check: RefillCheck,
  sender: RefilledSender & SenderBalance,
): Promise<boolean> {
  const { log, reported } = tools
  const { usual, limits, treasury } = check
  const { spendable, need } = await updateDryness(tools, check, sender)
  const high = smallest(HIGH_TRANSACTIONS * usual.wei, limits.highestWei)
  const key = `${sender.chainId}/${sender.address}`
  if (spendable >= largest(high / LOW_PART, need)) {
    reported.delete(key)
    return true
  }
  const isUnderWay = sender.refillNonce !== null && sender.refillNonce >= treasury.usedNonces
  if (isUnderWay) return false
  const result = await refill(tools, check, { sender, wantedWei: high - spendable })
  const facts = {
    chain: check.client.chain.name,
    sender: sender.address,
    treasury: treasury.address,
  }
  if (result.kind === 'sent') {
    const { nonce, hash, valueWei } = result
    log.info({ ...facts, eth: fromUnits(valueWei, 18), nonce, hash }, 'sender refilled')
  }
  if (result.kind === 'refused' && !reported.has(key)) {
    reported.add(key)
    const has = { eth: fromUnits(spendable, 18), reason: result.reason }
    log.error({ ...facts, ...has }, 'sender not refilled')
  }
  return false
}

type Refill =
  | { kind: 'sent'; nonce: bigint; hash: string; valueWei: bigint }
  | { kind: 'refused'; reason: string }
  /** Another signer has refilled it, or an operator has paused the chain. */
  | { kind: 'not now' }

/** Stores a transfer to a sender, or returns why there is none. */
async function refill(
  { db, keyring }: RefillTools,
  { client, prices, usual, limits, treasury }: RefillCheck,
  { sender, wantedWei }: { sender: RefilledSender; wantedWei: bigint },
): Promise<Refill> {
  const suffix = variableSuffix(client.chain.name)
  if (wantedWei <= 0n)
    return { kind: 'refused', reason: `REFILL_HIGHEST_ETH_${suffix} is too low. Raise it.` }
  if (!(await isOpened(keyring, sender)))
    return { kind: 'refused', reason: 'KEK_FILE does not open its key. Delete its row.' }
  const { request, l1FeeWei } = planTransfer(client, prices, sender.address)
  const context = { client, ...prices, ...treasury, sender: treasury }
  return db.transaction(async (trx) => {
    await lockNextNonce(trx, treasury)
    const { isPaused } = await readWithheld(trx, client.chain.chainId, [])
    if (isPaused || (await lockRefill(trx, sender)) !== sender.refillTx) return { kind: 'not now' }
    const underWay = await sumCosts(trx, treasury, treasury.usedNonces)
    const cost = request.gasLimit * prices.fees.maxWei + l1FeeWei
    const left = treasury.balanceWei - limits.reserveWei - underWay - cost
    const today = limits.dailyWei - (await sumMoved(trx, treasury))
    const valueWei = smallest(wantedWei, left, today)
    if (valueWei < smallest(LEAST_TRANSACTIONS * usual.wei, wantedWei)) {
      const reason =
        today < left
          ? `REFILL_DAILY_ETH_${suffix} is used up. Raise it or wait.`
          : 'The treasury has too little ETH. Fund it.'
      return { kind: 'refused', reason }
    }
    const planned = { request: { ...request, value: valueWei }, l1FeeWei, operations: [] }
    const stored = await storePlanned({ db: trx, keyring }, context, {
      ...planned,
      keptWei: limits.reserveWei,
    })
    await setRefill(trx, sender, stored.id)
    return { kind: 'sent', nonce: stored.nonce, hash: stored.hash, valueWei }
  })
}

/** True when the sealed key of a sender opens and is that of its address. A row alone receives nothing. */
const isOpened = ({ kek }: SignerTools['keyring'], sender: RefilledSender): Promise<boolean> =>
  openAccount(kek, sender.sealedKey, senderKeyContext(sender)).then(
    () => true,
    () => false,
  )

function planTransfer({ chain }: ChainClient, { fees, l1Price }: Prices, to: string): Planned {
  const data = '0x'
  const l1 = highestL1Part(chain, l1Price, { data, authorizations: 0 })
  const request = {
    chainId: chain.chainId,
    ...{ to, data, gasLimit: gasLimitOf(data, 0, 0n) + l1.gas },
    maxFeePerGas: fees.maxWei,
    maxPriorityFeePerGas: fees.tipWei,
  }
  return { request, l1FeeWei: l1.feeWei }
}
