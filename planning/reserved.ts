import { readClaims, readReservedAhead, type MarketUse } from '../db/lanes/claims.js'
import { roomsIn, type Told } from './rooms.js'
import type { Chain } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { BookedBlock } from '../db/lanes/reservations.js'
import type { Rate } from '../domain/yields.js'

/** Tokens of a wallet on one chain whose balances were read at a block; `isAhead`: one that is not booked. */
type Purses = { client: { chain: Chain }; booked: BookedBlock; isAhead?: true; tokens: string[] }

/** What a plan of a wallet counts on. */
export type Counted = { purses: Purses[]; told: Told[] }

/** What others hold of what a plan counts on. Throws for what was not asked about: it would count as free. */
export type Claimed = {
  /** False where the block at which a chain was read has gone since: what it said then says nothing. */
  isStillBooked(chain: Chain): boolean
  /** Base units of a token on a chain that are spoken for at the block at which its balance was read. */
  reserved(chain: Chain, token: string): bigint
  /** Base units that open intents of all accounts will pay into the rooms of markets, as far as those are bounded. */
  promised: Map<Rate, bigint>
  /** Steps of the wallet on a market that are not over. */
  use(chain: Chain, market: string): MarketUse
}

/** Asks about all of it by one statement, and by another one about blocks that are not booked. */
export async function readClaimed(
  trx: Db,
  walletId: string,
  { purses: read, told }: Counted,
): Promise<Claimed> {
  const purses = read.flatMap(({ client, booked: at, isAhead, tokens }) =>
    tokens.map((token) => ({ chain: client.chain, token, at, isAhead })),
  )
  const [booked, ahead] = [
    purses.filter((one) => !one.isAhead),
    purses.filter((one) => one.isAhead),
  ]
  const rooms = roomsIn(told)
  const markets = told.flatMap(({ client: { chain } }) =>
    chain.markets.map(({ address }) => ({ chain, chainId: chain.chainId, market: address })),
  )
  const claims = await readClaims(trx, walletId, {
    blocks: read.map((one) => one.booked),
    purses: booked,
    rooms: rooms.map(({ room }) => room),
    markets,
  })
  const units = [...claims.reserved, ...(await readReservedAhead(trx, walletId, ahead))]
  const held = new Map(
    [...booked, ...ahead].map((one, i) => [keyOf(one.chain, one.token), units[i]]),
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
  if (answer === undefined) throw new Error(`What is held of ${key} was not asked.`)
  return answer
}
