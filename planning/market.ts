import { readBlock } from '../chains/read.js'
import { readPairFees } from '../db/bridgeFees.js'
import { readBookedBlocks, type BookedBlock, type KnownBlock } from '../db/lanes/reservations.js'
import { defaultLimits, type PriceLimits } from '../domain/limits.js'
import { readRates } from '../protocols/lending/markets.js'
import { chainsNamedBy } from './disabled.js'
import { readGasUsd, type PricedPlace } from './gasCosts.js'
import { readAsset, readMarketHoldings, type MarketHolding } from './holdings.js'
import { readQuotes } from './quotes.js'
import { readPaused, withPauses, type PausedHolding } from './paused.js'
import { routesOver, type Routes } from './routes.js'
import { disabledBecause, type ChainClient, type Chains } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'
import type { IntentRequest } from '../domain/intent.js'
import type { GasKind, SwapQuote } from '../domain/plan/market.js'
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

/** True when a request cannot be planned without the answer of a chain. */
export const needs = (request: IntentRequest, chain: string): boolean =>
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
