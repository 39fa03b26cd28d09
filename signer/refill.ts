import { setTimeout as sleep } from 'node:timers/promises'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import { highestL1Part } from '../chains/l1Costs.js'
import {
  clearDry,
  lockRefill,
  readRefilledLanes,
  setDry,
  setRefill,
  sumCosts,
  sumMoved,
  type RefilledLane,
} from '../db/lanes/gas.js'
import { lockNextNonce } from '../db/lanes/signing.js'
import { holdStops, isPaused } from '../db/lanes/stops.js'
import { fromUnits, largest, smallest } from '../domain/money.js'
import { gasLimitOf } from '../protocols/userOperation.js'
import { readPrices, readPurse, usualCost, type Prices, type Purse } from './round.js'
import { storePlanned } from './store.js'
import type { Planned } from './transaction.js'
import type { ChainName } from '../chains/registry.js'
import type { RefillLimits } from '../domain/refill.js'
import type { SignerTools } from './round.js'

/** Pause after something was signed or deferred, and while a lane waits for gas. */
const LOOK_MS = 5_000
/** Announcements may be lost, fees move, and somebody may have taken a lane's gas: so often all are looked at. */
const IDLE_MS = 300_000
/** What a lane is filled up to, in usual transactions at present fees; below this part of it it is refilled. */
const HIGH_TRANSACTIONS = 400n
const LOW_PART = 4n
/** A transfer that brings less than so many usual transactions is not worth its own cost. */
const LEAST_TRANSACTIONS = 10n

/**
 * `told`: what was told of lanes that cannot be refilled, by chain and lane, for as long as it is so. `lookMs`: another
 * pause between two looks.
 */
export type RefillTools = Pick<SignerTools, 'db' | 'chains' | 'keyring' | 'log'> & {
  limits: Record<ChainName, RefillLimits>
  told: Set<string>
  lookMs?: number
}

/**
 * Keeps the lanes of all chains in gas until the signal aborts: looks at those of a chain after something was signed or
 * deferred there, and while one of them waits for gas. A chain where nothing happens is left alone.
 *
 * @param nextChange - Resolves when something was signed or deferred, at the latest after the given milliseconds.
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
      const change = nextChange(IDLE_MS, client.chain.chainId)
      const areWell = await refillOnce(tools, client).catch((error: unknown) => {
        tools.log.warn({ err: error, chain: client.chain.name }, 'lanes could not be looked at')
        return false
      })
      if (areWell) await change
      await pause()
    }
  }
  await Promise.all(tools.chains.list.map(keepFilled))
}

/** What holds for one look at a chain. `treasury` and its purse: at the block that the prices are of. */
type Look = {
  client: ChainClient
  prices: Prices
  usual: { gas: bigint; wei: bigint }
  limits: RefillLimits
  treasury: RefilledLane & Purse
}

/**
 * Looks once at the lanes of a chain: notes which are dry and which are not any more, and has the treasury send to
 * those that are low. What is under way to a lane counts by whether the block that was looked at has executed it,
 * so that a reorg or a second signer never sends twice.
 *
 * @returns True when all have enough.
 */
export async function refillOnce(tools: RefillTools, client: ChainClient): Promise<boolean> {
  const { chain } = client
  if (disabledBecause(client, 'chain')) return true
  const senders = await readRefilledLanes(tools.db, chain.chainId)
  if (!senders.some(({ purpose }) => purpose === 'treasury')) return true
  const prices = await readPrices(client)
  const purses = await Promise.all(
    senders.map(async (one) => ({
      ...one,
      ...(await readPurse(client, one.sender, { blockHash: prices.headHash })),
    })),
  )
  const treasury = purses.find(({ purpose }) => purpose === 'treasury')
  if (!treasury) return true
  const limits = tools.limits[chain.name]
  const look = { client, prices, usual: usualCost(chain, prices), limits, treasury }
  let areWell = true
  // One after the other: each transfer leaves less for the next one.
  for (const lane of purses.filter(({ purpose }) => purpose === 'operations')) {
    if (!(await keepLaneFilled(tools, look, lane))) areWell = false
  }
  return areWell
}

/** Wei that a lane can spend, and what it must have to count as one that can pay; that is noted in its row. */
async function noteDryness(
  { db }: RefillTools,
  { prices, usual }: Look,
  lane: RefilledLane & Purse,
): Promise<{ spendable: bigint; need: bigint }> {
  const spendable = lane.balanceWei - (await sumCosts(db, lane, lane.usedNonces))
  const isDry = lane.dryGas !== null
  const need = isDry ? BigInt(lane.dryGas ?? 0) * prices.fees.maxWei : usual.wei
  if (isDry && spendable >= need) await clearDry(db, lane)
  if (!isDry && spendable < need) await setDry(db, lane, usual.gas)
  return { spendable, need }
}

/** True when the lane has enough; else the treasury sends it more, unless that is under way or impossible. */
async function keepLaneFilled(
  tools: RefillTools,
  look: Look,
  lane: RefilledLane & Purse,
): Promise<boolean> {
  const { log, told } = tools
  const { usual, limits, treasury } = look
  const { spendable, need } = await noteDryness(tools, look, lane)
  const high = smallest(HIGH_TRANSACTIONS * usual.wei, limits.highestWei)
  const key = `${lane.chainId}/${lane.sender}`
  if (spendable >= largest(high / LOW_PART, need)) {
    told.delete(key)
    return true
  }
  const isUnderWay = lane.refillNonce !== null && lane.refillNonce >= treasury.usedNonces
  if (isUnderWay) return false
  const result = await refill(tools, look, { lane, wantedWei: high - spendable })
  const facts = { chain: look.client.chain.name, lane: lane.sender, treasury: treasury.sender }
  if (result.kind === 'sent') {
    const { nonce, hash, valueWei } = result
    log.info({ ...facts, eth: fromUnits(valueWei, 18), nonce, hash }, 'lane is refilled')
  }
  if (result.kind === 'refused' && !told.has(key)) {
    told.add(key)
    const has = { eth: fromUnits(spendable, 18), reason: result.reason }
    log.error({ ...facts, ...has }, 'lane is low on gas and cannot be refilled')
  }
  return false
}

type Refill =
  | { kind: 'sent'; nonce: bigint; hash: string; valueWei: bigint }
  | { kind: 'refused'; reason: string }
  /** Another signer has done it, or an operator has paused the chain. */
  | { kind: 'not now' }

/** Stores a transfer to a lane, or tells why there is none. */
async function refill(
  { db, keyring }: RefillTools,
  { client, prices, usual, limits, treasury }: Look,
  { lane, wantedWei }: { lane: RefilledLane; wantedWei: bigint },
): Promise<Refill> {
  if (wantedWei <= 0n) return { kind: 'refused', reason: 'REFILL_HIGHEST_ETH is too low' }
  const { request, l1FeeWei } = planTransfer(client, prices, lane.sender)
  const round = { client, lane: treasury, ...prices, ...treasury }
  return db.transaction(async (trx) => {
    await holdStops(trx)
    if (await isPaused(trx, client.chain.chainId)) return { kind: 'not now' }
    await lockNextNonce(trx, treasury)
    if ((await lockRefill(trx, lane)) !== lane.refillTx) return { kind: 'not now' }
    const underWay = await sumCosts(trx, treasury, treasury.usedNonces)
    const cost = request.gasLimit * prices.fees.maxWei + l1FeeWei
    const left = treasury.balanceWei - limits.reserveWei - underWay - cost
    const today = limits.dailyWei - (await sumMoved(trx, treasury))
    const valueWei = smallest(wantedWei, left, today)
    if (valueWei < smallest(LEAST_TRANSACTIONS * usual.wei, wantedWei)) {
      const reason =
        today < left ? 'REFILL_DAILY_ETH is used up' : 'the treasury has too little ETH'
      return { kind: 'refused', reason }
    }
    const planned = { request: { ...request, value: valueWei }, l1FeeWei, operations: [] }
    const stored = await storePlanned({ db: trx, keyring }, round, {
      ...planned,
      keptWei: limits.reserveWei,
    })
    await setRefill(trx, lane, stored.id)
    return { kind: 'sent', nonce: stored.nonce, hash: stored.hash, valueWei }
  })
}

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
