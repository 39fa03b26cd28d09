import { readBalance, readBlock } from '../chains/read.js'
import { readEthPrice } from '../chains/prices.js'
import {
  isStillBooked,
  readBookedBlocks,
  readReserved,
  type BookedBlock,
} from '../db/reservations.js'
import { ServiceError } from '../domain/errors.js'
import { gasCostUsd } from '../domain/money.js'
import { planIntent, type ChainState } from '../domain/plan.js'
import { readRates } from '../protocols/markets.js'
import type { ChainClient, Chains } from '../chains/connect.js'
import type { Db } from '../db/connect.js'
import type { ExecutionPlan, IntentRequest } from '../domain/intent.js'
import type { Rate } from '../domain/yields.js'

/** First deposit of a wallet through the EntryPoint, delegation included, measured on the devnet. */
const DEPOSIT_GAS = 253_639n

/** What one chain said: the wallet's balance at the block whose outcomes the database knows. */
type ChainSnapshot = {
  client: ChainClient
  booked: BookedBlock
  balanceUnits: bigint
  depositGasUsd: number
  rates: Rate[]
}

export type Market = { snapshots: ChainSnapshot[]; silent: string[] }

/**
 * Asks all chains for what planning needs. Balances are read at the booked block: at any other one,
 * money that an operation has just moved would count twice or not at all.
 */
export async function readMarket(db: Db, chains: Chains, wallet: string): Promise<Market> {
  const booked = await readBookedBlocks(db)
  const answers = await Promise.all(
    chains.list.map(async (client) => {
      const at = booked.find(({ chainId }) => chainId === BigInt(client.chain.chainId))
      if (!at) return client.chain.name
      // Also an answer that cannot be decoded: a node that is not in sync has no contracts.
      return readSnapshot(client, wallet, at).catch(() => client.chain.name)
    }),
  )
  return {
    snapshots: answers.filter((answer) => typeof answer !== 'string'),
    silent: answers.filter((answer) => typeof answer === 'string'),
  }
}

async function readSnapshot(
  client: ChainClient,
  wallet: string,
  booked: BookedBlock,
): Promise<ChainSnapshot> {
  const { chain } = client
  const [balanceUnits, rates, head, ethPrice] = await Promise.all([
    readBalance(client, chain.usdc.address, wallet, { blockHash: booked.hash }),
    readRates(client),
    readBlock(client, 'latest'),
    readEthPrice(client),
  ])
  const wei = DEPOSIT_GAS * ((head?.baseFeeWei ?? 0n) + chain.priorityFeeWei)
  return { client, booked, balanceUnits, rates, depositGasUsd: gasCostUsd(wei, ethPrice) }
}

/**
 * Plans a request with what is left after the reservations. The caller holds the wallet's row, so that
 * two intents never count on the same money.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST as `planIntent` says; RPC_ERROR when a
 *   chain that is silent might hold the answer.
 */
export async function planWithReservations(
  trx: Db,
  walletId: string,
  request: IntentRequest,
  market: Market,
): Promise<ExecutionPlan> {
  const { snapshots, silent } = await dropReorganised(trx, market)
  const missing = silent.filter((name) => !request.chain || name === request.chain)
  if (missing.length > 0 && (request.chain || snapshots.length === 0)) throw noAnswer(missing)
  const chains: ChainState[] = []
  for (const { client, booked, balanceUnits, depositGasUsd } of snapshots) {
    const { name, usdc, stepSeconds } = client.chain
    const reserved = await readReserved(trx, walletId, usdc.address, booked)
    const availableUnits = balanceUnits > reserved ? balanceUnits - reserved : 0n
    chains.push({ chain: name, availableUnits, depositGasUsd, stepSeconds })
  }
  const rates = snapshots.flatMap((snapshot) => snapshot.rates)
  const decimals = snapshots[0]?.client.chain.usdc.decimals ?? 0
  try {
    return planIntent(request, { decimals, chains, rates })
  } catch (error) {
    throw missing.length > 0 ? noAnswer(missing) : error
  }
}

/** A balance from a block that has gone meanwhile is no answer: money in it might count twice. */
async function dropReorganised(trx: Db, { snapshots, silent }: Market): Promise<Market> {
  const kept: ChainSnapshot[] = []
  const gone: string[] = []
  for (const snapshot of snapshots) {
    if (await isStillBooked(trx, snapshot.booked)) kept.push(snapshot)
    else gone.push(snapshot.client.chain.name)
  }
  return { snapshots: kept, silent: [...silent, ...gone] }
}

function noAnswer(silent: string[]): ServiceError {
  return new ServiceError('RPC_ERROR', `No answer from ${silent.join(', ')}.`, { silent })
}
