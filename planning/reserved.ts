import {
  readClaims,
  readReservedAhead,
  type Claims,
  type Counted as Asked,
  type MarketUse,
  type PurseAt,
} from '../db/lanes/claims.js'
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
export async function readClaimed(trx: Db, walletId: string, counted: Counted): Promise<Claimed> {
  const question = questionOf(counted)
  const claims = await readClaims(trx, walletId, question.asked)
  return toClaimed(question, claims, await readReservedAhead(trx, walletId, question.ahead))
}

type Purse = PurseAt & { chain: Chain }

/** `ahead`: purses at blocks that are not booked. */
type Question = {
  asked: Asked
  purses: Purse[]
  markets: { chain: Chain; market: string }[]
  ahead: Purse[]
  rooms: ReturnType<typeof roomsIn>
}

function questionOf({ purses: read, told }: Counted): Question {
  const pursesOf = (isAhead: boolean) =>
    read
      .filter((one) => (one.isAhead ?? false) === isAhead)
      .flatMap(({ client: { chain }, booked: at, tokens }) =>
        tokens.map((token) => ({ chain, token, at })),
      )
  const rooms = roomsIn(told)
  const markets = told.flatMap(({ client: { chain } }) =>
    chain.markets.map(({ address }) => ({ chain, chainId: chain.chainId, market: address })),
  )
  const purses = pursesOf(false)
  const blocks = read.map((one) => one.booked)
  const asked = { blocks, purses, rooms: rooms.map(({ room }) => room), markets }
  return { asked, purses, markets, ahead: pursesOf(true), rooms }
}

function toClaimed(
  { purses, markets, ahead, rooms }: Question,
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
  if (answer === undefined) throw new Error(`What is held of ${key} was not asked.`)
  return answer
}
