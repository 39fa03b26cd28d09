import { readBlock } from '../evm/read.js'
import { readPairFees } from '../db/bridgeFees.js'
import {
  readIndexedBlocks,
  type IndexedBlock,
  type KnownBlock,
} from '../db/intents/reservations.js'
import { defaultLimits, type PlanLimits } from '../domain/limits.js'
import { readUsdcPriceAt } from '../evm/prices.js'
import { readRates, type MarketRates, type UnreadableMarket } from '../evm/lending/markets.js'
import { chainsNamedBy } from './disabled.js'
import { readGasUsd, type PricedPlace } from './gasCosts.js'
import { readAsset, readMarketPositions, type MarketPosition, type WalletAt } from './positions.js'
import { readQuotes } from './quotes.js'
import { readPaused, withPauses, type PausedPosition } from './paused.js'
import { routesOver, type Routes } from './routes.js'
import { disabledBecause, type ChainClient, type Chains } from '../evm/connect.js'
import type { Db } from '../db/client/connect.js'
import type { IntentRequest } from '../domain/intent/intent.js'
import type { GasKind, SwapQuote } from '../domain/plan/market.js'
import type { Rate } from '../domain/yields.js'

/** Data of one chain: the wallet's money at the indexed block, rates, quotes and gas. */
export type ChainSnapshot = {
  client: ChainClient
  indexed: IndexedBlock
  /** The balances are from a block that is not indexed yet. */
  isAhead?: true
  balanceUnits: bigint
  holdings: MarketPosition[]
  /** Markets without a rate, or for a withdrawal without a position. */
  unreadable: UnreadableMarket[]
  /** Undefined while the price of ETH is unknown. */
  gasUsd: Record<GasKind, number> | undefined
  rates: Rate[]
  swaps: SwapQuote[]
  /** USD per USDC with 8 decimals, undefined when unknown. */
  usdcPriceE8: bigint | undefined
}

/**
 * Data of all chains, and the latest fees of the bridges. `silent`: names of chains that did not respond. Disabled
 * chains are not read.
 */
export type MarketSnapshot = Routes & {
  clients: ChainClient[]
  snapshots: ChainSnapshot[]
  paused: PausedPosition[]
  silent: string[]
  limits: PlanLimits
}

/** `limits`: limits on costs. Absent: the defaults. */
export type MarketTools = { db: Db; chains: Chains; limits?: PlanLimits }

/**
 * Reads planning data from all chains. Balances are read at the indexed block: at another block, money that an operation
 * has just moved would count twice or not at all. Data without a wallet is read once per block for all plans.
 */
export const readMarket = (tools: MarketTools, wallet: string, request: IntentRequest) =>
  readChains(tools, { wallet, request, isAsked: () => true })

/**
 * Reads only the chains that a request needs. This suffices for a plan, but not for INSUFFICIENT_FUNDS, whose details
 * list the balances on all chains.
 */
export const readNeeded = (tools: MarketTools, wallet: string, request: IntentRequest) =>
  readChains(tools, { wallet, request, isAsked: ({ chain: { name } }) => needs(request, name) })

/** A lend can use money on any chain. */
export const needsAll = ({ action }: IntentRequest): boolean => action === 'lend'

/** True when a request cannot be planned without data of the chain. */
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
  const [indexed, { clients, idle }, fees] = await Promise.all([
    readIndexedBlocks(db),
    withPauses(db, chains),
    request.action === 'withdraw' ? undefined : readPairFees(db),
  ])
  const enabled = clients.filter((client) => disabledBecause(client, 'chain') === undefined)
  const views = enabled.flatMap((client) => viewOf(client, indexed) ?? [])
  const [answers, paused] = await Promise.all([
    Promise.all(
      enabled.filter(isAsked).map(async (client) => {
        const view = views.find((one) => one.client === client)
        if (!view) return client.chain.name
        // Includes undecodable responses: an unsynced node has no contracts.
        const query = { wallet, request, others: views }
        return readSnapshot(view, query).catch(() => client.chain.name)
      }),
    ),
    readPaused(idle, indexed, { wallet, request }),
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

/** A chain, and the block for data that does not depend on the indexed state. */
type ChainView = PricedPlace & { indexed: IndexedBlock }

/** Undefined when no block was ever indexed. While indexing is delayed, prices and rates are read at the head. */
function viewOf(client: ChainClient, known: KnownBlock[]): ChainView | undefined {
  const indexed = known.find(({ chainId }) => chainId === BigInt(client.chain.chainId))
  if (!indexed?.isRecent) return indexed && { client, indexed, block: 'latest' }
  const { hash, baseFeeWei } = indexed
  return { client, indexed, baseFeeWei, block: { blockHash: hash } }
}

/** `others`: chains whose price feed can serve as a fallback. */
type SnapshotQuery = { wallet: string; request: IntentRequest; others: ChainView[] }

async function readSnapshot(
  view: ChainView,
  { wallet, request, others }: SnapshotQuery,
): Promise<ChainSnapshot> {
  const { client, indexed, block } = view
  const holder = { wallet, block: { blockHash: indexed.hash }, offered: block }
  const readSwaps = async () => {
    const lent = await readLent(client, holder, request)
    return { ...lent, swaps: await readQuotes(view, request, lent.holdings) }
  }
  const [balanceUnits, { holdings, swaps, ...lent }, offered, gasUsd, usdcPriceE8] =
    await Promise.all([
      readAsset(client, request.asset, holder),
      readSwaps(),
      request.action === 'bridge' ? noRates : readRates(client, block),
      readGasUsd(view, others),
      readUsdcPriceAt(view),
    ])
  const { rates } = offered
  // A withdrawal needs no rate, and a lend no position.
  const { unreadable } = request.action === 'withdraw' ? lent : offered
  const money = { balanceUnits, holdings, gasUsd, usdcPriceE8 }
  return { client, indexed, ...money, unreadable, rates, swaps }
}

const noRates: MarketRates = { rates: [], unreadable: [] }

/** Only a withdrawal spends positions. */
const readLent = (client: ChainClient, holder: WalletAt, { action }: IntentRequest) =>
  action === 'withdraw'
    ? readMarketPositions(client, holder)
    : Promise.resolve({ holdings: [], unreadable: [] })

/** Reads the wallet's money at the head of the chain. Undefined when the head is indexed. */
export async function readAhead(
  snapshot: ChainSnapshot,
  wallet: string,
  request: IntentRequest,
): Promise<ChainSnapshot | undefined> {
  const { client, indexed } = snapshot
  const head = await readBlock(client, 'latest')
  if (!head || head.number <= indexed.number) return undefined
  const block = { blockHash: head.hash }
  const holder = { wallet, block, offered: block }
  const [balanceUnits, lent] = await Promise.all([
    readAsset(client, request.asset, holder),
    readLent(client, holder, request),
  ])
  const { number, hash } = head
  return {
    ...snapshot,
    indexed: { ...indexed, number, hash },
    balanceUnits,
    holdings: lent.holdings,
    isAhead: true,
  }
}
