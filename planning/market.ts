import { readBlock } from '../chains/read.js'
import { readPairFees } from '../db/bridgeFees.js'
import { readBookedBlocks, type BookedBlock, type KnownBlock } from '../db/lanes/reservations.js'
import { ServiceError, invalidRequest } from '../domain/errors.js'
import { defaultLimits, type PriceLimits } from '../domain/limits.js'
import { planIntent } from '../domain/plan/planIntent.js'
import { assetOf, readRates } from '../protocols/lending/markets.js'
import {
  allDisabled,
  assertEnabled,
  chainsNamedBy,
  explainRefusal,
  listDisabled,
} from './disabled.js'
import { readGasUsd, type PricedPlace } from './gasCosts.js'
import { tellHeld } from './held.js'
import { readAsset, readMarketHoldings, type MarketHolding } from './holdings.js'
import { readQuotes } from './quotes.js'
import { readPaused, toPausedChain, withPauses, type PausedHolding } from './paused.js'
import { readClaimed, type Claimed } from './reserved.js'
import { planWithinRooms } from './rooms.js'
import { mayNeedUnread, routesOver, type Routes } from './routes.js'
import { disabledBecause, type ChainClient, type Chains } from '../chains/connect.js'
import { findToken } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { SeenBlock } from '../db/intents/intents.js'
import type { ExecutionPlan, IntentRequest } from '../domain/intent.js'
import type {
  ChainState,
  GasKind,
  MarketState,
  PositionState,
  SwapQuote,
} from '../domain/plan/market.js'
import type { Rate } from '../domain/yields.js'

/** What one chain said: the wallet's money at the block whose outcomes the database knows. */
export type ChainSnapshot = {
  client: ChainClient
  booked: BookedBlock
  /** The money was read at a later block, of which the database knows nothing yet. */
  isAhead?: true
  balanceUnits: bigint
  holdings: MarketHolding[]
  gasUsd: Record<GasKind, number>
  rates: Rate[]
  swaps: SwapQuote[]
}

/**
 * What the chains say, and what the bridges said last. `silent`: names of chains without an answer. Those that are
 * disabled were not asked.
 */
export type MarketSnapshot = Routes & {
  clients: ChainClient[]
  snapshots: ChainSnapshot[]
  paused: PausedHolding[]
  silent: string[]
  limits: PriceLimits
}

/** `limits`: what money may cost on its way; absent: the usual ones. */
export type MarketTools = { db: Db; chains: Chains; limits?: PriceLimits }

/**
 * Asks all chains for what planning needs. Balances are read at the booked block: at any other one,
 * money that an operation has just moved would count twice or not at all. What is the same for everybody is read
 * there too, once for all who plan at it.
 */
export const readMarket = (tools: MarketTools, wallet: string, request: IntentRequest) =>
  readChains(tools, { wallet, request, isAsked: () => true })

/**
 * The same of the chains only without which a request cannot be planned. That is enough for a plan, but not for
 * INSUFFICIENT_FUNDS, which tells what there is on all of them.
 */
export const readNeeded = (tools: MarketTools, wallet: string, request: IntentRequest) =>
  readChains(tools, { wallet, request, isAsked: ({ chain: { name } }) => needs(request, name) })

/** Money for a lending may lie on any chain. */
export const needsAll = ({ action }: IntentRequest): boolean => action === 'lend'

const needs = (request: IntentRequest, chain: string): boolean =>
  needsAll(request) || chainsNamedBy(request).includes(chain)

type Reading = {
  wallet: string
  request: IntentRequest
  isAsked: (client: ChainClient) => boolean
}

async function readChains(
  { db, chains, limits = defaultLimits }: MarketTools,
  { wallet, request, isAsked }: Reading,
): Promise<MarketSnapshot> {
  const [booked, { clients, idle }, fees] = await Promise.all([
    readBookedBlocks(db),
    withPauses(db, chains),
    request.action === 'withdraw' ? undefined : readPairFees(db),
  ])
  const enabled = clients.filter((client) => disabledBecause(client, 'chain') === undefined)
  const views = enabled.flatMap((client) => viewOf(client, booked) ?? [])
  const [answers, paused] = await Promise.all([
    Promise.all(
      enabled.filter(isAsked).map(async (client) => {
        const view = views.find((one) => one.client === client)
        if (!view) return client.chain.name
        // Also an answer that cannot be decoded: a node that is not in sync has no contracts.
        const question = { wallet, request, others: views }
        return readSnapshot(view, question).catch(() => client.chain.name)
      }),
    ),
    readPaused(idle, booked, { wallet, request }),
  ])
  return {
    clients,
    limits,
    paused,
    snapshots: answers.filter((answer) => typeof answer !== 'string'),
    silent: answers.filter((answer) => typeof answer === 'string'),
    ...routesOver(clients, fees),
  }
}

/** A chain, and the block at which it is asked for what does not hang on what is booked. */
type View = PricedPlace & { booked: BookedBlock }

/** Undefined where nothing was ever booked. While booking is held up prices and rates are those of the head. */
function viewOf(client: ChainClient, known: KnownBlock[]): View | undefined {
  const booked = known.find(({ chainId }) => chainId === BigInt(client.chain.chainId))
  if (!booked?.isRecent) return booked && { client, booked, block: 'latest' }
  const { hash, baseFeeWei } = booked
  return { client, booked, baseFeeWei, block: { blockHash: hash } }
}

/** `others`: chains that may tell what a coin is worth. */
type Question = { wallet: string; request: IntentRequest; others: View[] }

async function readSnapshot(
  view: View,
  { wallet, request, others }: Question,
): Promise<ChainSnapshot> {
  const { client, booked, block } = view
  const holder = { wallet, block: { blockHash: booked.hash }, offered: block }
  const readSwaps = async () => {
    const holdings = request.action === 'withdraw' ? await readMarketHoldings(client, holder) : []
    return { holdings, swaps: await readQuotes(view, request, holdings) }
  }
  const [balanceUnits, { holdings, swaps }, rates, gasUsd] = await Promise.all([
    readAsset(client, request.asset, holder),
    readSwaps(),
    request.action === 'bridge' ? [] : readRates(client, block),
    readGasUsd(view, others),
  ])
  return { client, booked, balanceUnits, holdings, rates, gasUsd, swaps }
}

/** Reads the wallet's money again, at the head of the chain. Undefined when the head is booked. */
export async function readAhead(
  snapshot: ChainSnapshot,
  wallet: string,
  request: IntentRequest,
): Promise<ChainSnapshot | undefined> {
  const { client, booked } = snapshot
  const head = await readBlock(client, 'latest')
  if (!head || head.number <= booked.number) return undefined
  const block = { blockHash: head.hash }
  const holder = { wallet, block, offered: block }
  const [balanceUnits, holdings] = await Promise.all([
    readAsset(client, request.asset, holder),
    request.action === 'withdraw' ? readMarketHoldings(client, holder) : [],
  ])
  const { number, hash } = head
  return { ...snapshot, booked: { ...booked, number, hash }, balanceUnits, holdings, isAhead: true }
}

/**
 * What was asked for, and what the chains and the bridge said. `seen`: heads at which money is that the booked
 * blocks do not show.
 */
export type PlanInput = { request: IntentRequest; market: MarketSnapshot; seen?: SeenBlock[] }

/**
 * Plans a request with what is left after the reservations. The caller holds the wallet's row, so that
 * two intents never count on the same money.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST as `planIntent` says, or with the reason
 *   `market_busy` while another intent takes everything out of a market of the plan; RPC_ERROR when a
 *   chain that is silent, or a bridge that was never read, might hold the answer; UNAVAILABLE with the reason
 *   `capability_disabled`.
 */
export async function planWithReservations(
  trx: Db,
  walletId: string,
  { request, market }: PlanInput,
): Promise<ExecutionPlan> {
  assertEnabled(request, market.clients)
  const claimed = await readClaimedOf(trx, walletId, { request, market })
  const known = { ...market, ...dropReorganised(market, claimed) }
  try {
    return await planBeside(trx, claimed, { request, market: known })
  } catch (error) {
    throw await tellHeld(trx, error, { walletId, request, snapshots: known.snapshots })
  }
}

/**
 * Plans from balances as they are, whatever has become of their blocks.
 *
 * @throws {ServiceError} As `planWithReservations`, without what is held.
 */
export async function planFrom(
  trx: Db,
  walletId: string,
  input: Omit<PlanInput, 'seen'>,
): Promise<ExecutionPlan> {
  return planBeside(trx, await readClaimedOf(trx, walletId, input), input)
}

/** Plans with what others leave. */
async function planBeside(
  trx: Db,
  claimed: Claimed,
  input: Omit<PlanInput, 'seen'>,
): Promise<ExecutionPlan> {
  const { request, market } = input
  const { snapshots, silent } = market
  const named = chainsNamedBy(request)
  const missing = silent.filter((name) => needs(request, name))
  if (missing.some((name) => named.includes(name))) throw noAnswer(missing)
  if (snapshots.length === 0) {
    throw missing.length > 0 ? noAnswer(missing) : allDisabled(request, market.clients)
  }
  if (mayNeedUnread(request, market.unread)) missing.push('the bridge')
  const { asset } = request
  const chains = snapshots.map((snapshot) => toChainState(snapshot, asset, claimed))
  const positions = snapshots.flatMap((snapshot) => toPositions(snapshot, claimed))
  const paused = market.paused.map((holding) => toPausedChain(holding, asset, claimed))
  const swaps = snapshots.flatMap((snapshot) => snapshot.swaps)
  const disabled = listDisabled(market.clients)
  const { routes, limits } = market
  const state = { chains, routes, swaps, positions, disabled, paused, limits }
  const rooms = { told: snapshots, promised: claimed.promised }
  const plan = await planWithinRooms(trx, rooms, (rates) =>
    planOrExplain(request, { ...state, rates }, { missing, clients: market.clients }),
  )
  assertNotBusy(plan, snapshots, claimed)
  return plan
}

function planOrExplain(
  request: IntentRequest,
  state: MarketState,
  { missing, clients }: { missing: string[]; clients: ChainClient[] },
): ExecutionPlan {
  try {
    return planIntent(request, state)
  } catch (error) {
    throw missing.length > 0
      ? noAnswer(missing)
      : explainRefusal(error, request, { state, clients })
  }
}

function readClaimedOf(
  trx: Db,
  walletId: string,
  { request, market }: Omit<PlanInput, 'seen'>,
): Promise<Claimed> {
  const purses = pursesOf(market, request.asset)
  return readClaimed(trx, walletId, { purses, told: market.snapshots })
}

/** Whatever money of the wallet was read. */
function pursesOf(
  { snapshots, paused }: Pick<MarketSnapshot, 'snapshots' | 'paused'>,
  asset: string,
) {
  const tokens = ({ chain }: ChainClient) => findToken(chain, asset)?.address ?? []
  return [
    ...snapshots.map((snapshot) => {
      const receipts = snapshot.holdings.map(({ market }) => market.receiptToken)
      return { ...snapshot, tokens: [tokens(snapshot.client), receipts].flat() }
    }),
    ...paused.flatMap(({ client, booked }) => {
      return booked ? { client, booked, tokens: [tokens(client)].flat() } : []
    }),
  ]
}

function toChainState(
  { client: { chain }, balanceUnits, gasUsd }: ChainSnapshot,
  asset: string,
  { reserved }: Claimed,
): ChainState {
  const { name, stepSeconds } = chain
  const token = findToken(chain, asset)?.address
  const availableUnits = less(balanceUnits, token ? reserved(chain, token) : 0n)
  return { chain: name, availableUnits, gasUsd, stepSeconds }
}

function toPositions(
  { client: { chain }, holdings }: ChainSnapshot,
  { reserved, use }: Claimed,
): PositionState[] {
  const filled = holdings.filter(({ units }) => units > 0n)
  return filled.map(({ market, units, liquidityUnits }) => ({
    chain: chain.name,
    protocol: market.protocol,
    market: market.address,
    asset: assetOf(chain, market),
    liquidityUnits,
    availableUnits: less(units, reserved(chain, market.receiptToken)),
    isBusy: use(chain, market.address).open,
  }))
}

const less = (units: bigint, heldUnits: bigint) => (units > heldUnits ? units - heldUnits : 0n)

/** Where everything is being taken out, a step of another intent would be taken out with it. */
function assertNotBusy(
  { steps }: ExecutionPlan,
  snapshots: ChainSnapshot[],
  { use }: Claimed,
): void {
  for (const step of steps) {
    if (step.type !== 'deposit' && step.type !== 'withdraw') continue
    const at = snapshots.find(({ client }) => client.chain.name === step.chain)
    if (!at || !use(at.client.chain, step.market).everything) continue
    const message = `Another intent is taking everything out of ${step.protocol} on ${step.chain}. Try again when it is over.`
    throw invalidRequest('chain', message, 'market_busy')
  }
}

/** A balance from a block that has gone meanwhile is no answer: money in it might count twice. */
function dropReorganised(
  { snapshots, silent }: MarketSnapshot,
  { isStillBooked }: Claimed,
): Pick<MarketSnapshot, 'snapshots' | 'silent'> {
  const isKept = ({ client: { chain } }: ChainSnapshot) => isStillBooked(chain)
  const gone = snapshots.filter((one) => !isKept(one)).map(({ client }) => client.chain.name)
  return { snapshots: snapshots.filter(isKept), silent: [...silent, ...gone] }
}

function noAnswer(silent: string[]): ServiceError {
  return new ServiceError('RPC_ERROR', `No answer from ${silent.join(', ')}.`, { silent })
}
