import { readReservedAmounts, readReservedAhead } from '../db/intents/reservedAmounts.js'
import { capacitiesIn, type ChainRates } from './marketCapacity.js'
import type { Chain } from '../evm/registry.js'
import type {
  ReservedAmounts,
  Counted,
  MarketUse,
  TokenAtBlock,
} from '../db/intents/reservedAmounts.js'
import type { Db } from '../db/client/connect.js'
import type { IndexedBlock } from '../db/intents/reservations.js'
import type { Rate } from '../domain/yields.js'

/** Token balances of a wallet on one chain at a block. `isAhead`: the block is not indexed. */
type ReadBalances = {
  client: { chain: Chain }
  indexed: IndexedBlock
  isAhead?: true
  tokens: string[]
}

/** The balances and rates that a plan uses. */
export type PlanData = { balances: ReadBalances[]; offers: ChainRates[] }

/** Reservations that affect a plan. Throws for tokens and markets that were not queried: they would count as free. */
export type PlanReservations = {
  /** False when a reorg has removed the block at which the chain was read. */
  isStillIndexed(chain: Chain): boolean
  /** Reserved base units of a token on a chain, at the block of its balance. */
  reserved(chain: Chain, token: string): bigint
  /** Base units that open intents of all accounts will deposit into markets with a bounded capacity. */
  reservedInMarkets: Map<Rate, bigint>
  /** Open steps of the wallet on a market. */
  use(chain: Chain, market: string): MarketUse
}

/** Reads all reservations in one query, and those for blocks that are not indexed in another. */
export async function readReservedSpending(
  trx: Db,
  walletId: string,
  data: PlanData,
): Promise<PlanReservations> {
  const query = queryOf(data)
  const reservations = await readReservedAmounts(trx, walletId, query.counted)
  return toPlanReservations(
    query,
    reservations,
    await readReservedAhead(trx, walletId, query.ahead),
  )
}

type TokenAt = TokenAtBlock & { chain: Chain }

/** `ahead`: balances at blocks that are not indexed. */
type ReservationQuery = {
  counted: Counted
  tokens: TokenAt[]
  markets: { chain: Chain; market: string }[]
  ahead: TokenAt[]
  capacities: ReturnType<typeof capacitiesIn>
}

function queryOf({ balances: read, offers }: PlanData): ReservationQuery {
  const tokensAt = (isAhead: boolean) =>
    read
      .filter((one) => (one.isAhead ?? false) === isAhead)
      .flatMap(({ client: { chain }, indexed: at, tokens }) =>
        tokens.map((token) => ({ chain, token, at })),
      )
  const capacities = capacitiesIn(offers)
  const markets = offers.flatMap(({ client: { chain } }) =>
    chain.markets.map(({ address }) => ({ chain, chainId: chain.chainId, market: address })),
  )
  const tokens = tokensAt(false)
  const blocks = read.map((one) => one.indexed)
  const counted = {
    blocks,
    tokens,
    capacities: capacities.map(({ capacity }) => capacity),
    markets,
  }
  return { counted, tokens, markets, ahead: tokensAt(true), capacities }
}

function toPlanReservations(
  { tokens, markets, ahead, capacities }: ReservationQuery,
  reservations: ReservedAmounts,
  reservedAhead: bigint[],
): PlanReservations {
  const units = [...reservations.reserved, ...reservedAhead]
  const reserved = new Map(
    [...tokens, ...ahead].map((one, i) => [keyOf(one.chain, one.token), units[i]]),
  )
  const uses = new Map(
    markets.map((one, i) => [keyOf(one.chain, one.market), reservations.uses[i]]),
  )
  return {
    isStillIndexed: ({ chainId }) => reservations.stillIndexed.includes(BigInt(chainId)),
    reserved: (chain, token) => known(reserved, keyOf(chain, token)),
    reservedInMarkets: new Map(
      capacities.map(({ rate }, i) => [rate, reservations.reservedInMarkets[i] ?? 0n]),
    ),
    use: (chain, market) => known(uses, keyOf(chain, market)),
  }
}

const keyOf = ({ chainId }: Chain, address: string) => `${chainId}/${address}`

function known<Value>(answers: Map<string, Value | undefined>, key: string): Value {
  const answer = answers.get(key)
  if (answer === undefined) throw new Error(`The reservations of ${key} were not queried.`)
  return answer
}
