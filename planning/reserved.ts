import { readClaims, readReservedAhead } from '../db/lanes/claims.js'
import { roomsIn, type ChainRates } from './rooms.js'
import type { Chain } from '../chains/registry.js'
import type { Claims, Counted, MarketUse, PurseAt } from '../db/lanes/claims.js'
import type { Db } from '../db/connection/connect.js'
import type { BookedBlock } from '../db/lanes/reservations.js'
import type { Rate } from '../domain/yields.js'

/** Token balances of a wallet on one chain at a block. `isAhead`: the block is not indexed. */
type ReadBalances = {
  client: { chain: Chain }
  booked: BookedBlock
  isAhead?: true
  tokens: string[]
}

/** The balances and rates that a plan uses. */
export type PlanData = { balances: ReadBalances[]; offers: ChainRates[] }

/** Reservations that affect a plan. Throws for tokens and markets that were not queried: they would count as free. */
export type Claimed = {
  /** False when a reorg has removed the block at which the chain was read. */
  isStillBooked(chain: Chain): boolean
  /** Reserved base units of a token on a chain, at the block of its balance. */
  reserved(chain: Chain, token: string): bigint
  /** Base units that open intents of all accounts will deposit into markets with a bounded capacity. */
  promised: Map<Rate, bigint>
  /** Open steps of the wallet on a market. */
  use(chain: Chain, market: string): MarketUse
}

/** Reads all reservations in one query, and those for blocks that are not indexed in another. */
export async function readClaimed(trx: Db, walletId: string, data: PlanData): Promise<Claimed> {
  const query = queryOf(data)
  const claims = await readClaims(trx, walletId, query.counted)
  return toClaimed(query, claims, await readReservedAhead(trx, walletId, query.ahead))
}

type TokenAt = PurseAt & { chain: Chain }

/** `ahead`: balances at blocks that are not indexed. */
type ReservationQuery = {
  counted: Counted
  purses: TokenAt[]
  markets: { chain: Chain; market: string }[]
  ahead: TokenAt[]
  rooms: ReturnType<typeof roomsIn>
}

function queryOf({ balances: read, offers }: PlanData): ReservationQuery {
  const tokensAt = (isAhead: boolean) =>
    read
      .filter((one) => (one.isAhead ?? false) === isAhead)
      .flatMap(({ client: { chain }, booked: at, tokens }) =>
        tokens.map((token) => ({ chain, token, at })),
      )
  const rooms = roomsIn(offers)
  const markets = offers.flatMap(({ client: { chain } }) =>
    chain.markets.map(({ address }) => ({ chain, chainId: chain.chainId, market: address })),
  )
  const purses = tokensAt(false)
  const blocks = read.map((one) => one.booked)
  const counted = { blocks, purses, rooms: rooms.map(({ room }) => room), markets }
  return { counted, purses, markets, ahead: tokensAt(true), rooms }
}

function toClaimed(
  { purses, markets, ahead, rooms }: ReservationQuery,
  claims: Claims,
  reservedAhead: bigint[],
): Claimed {
  const units = [...claims.reserved, ...reservedAhead]
  const held = new Map(
    [...purses, ...ahead].map((one, i) => [keyOf(one.chain, one.token), units[i]]),
  )
  const uses = new Map(markets.map((one, i) => [keyOf(one.chain, one.market), claims.uses[i]]))
  return {
    isStillBooked: ({ chainId }) => claims.stillBooked.includes(BigInt(chainId)),
    reserved: (chain, token) => known(held, keyOf(chain, token)),
    promised: new Map(rooms.map(({ rate }, i) => [rate, claims.promised[i] ?? 0n])),
    use: (chain, market) => known(uses, keyOf(chain, market)),
  }
}

const keyOf = ({ chainId }: Chain, address: string) => `${chainId}/${address}`

function known<Value>(answers: Map<string, Value | undefined>, key: string): Value {
  const answer = answers.get(key)
  if (answer === undefined) throw new Error(`The reservations of ${key} were not queried.`)
  return answer
}
