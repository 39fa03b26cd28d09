import { lockRoom, readPromised, type Room } from '../db/lanes/reservations.js'
import { getMarket, marketsSharing } from '../protocols/lending/markets.js'
import { assetUnits } from '../domain/money.js'
import type { Chain } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { DepositStep, ExecutionPlan } from '../domain/intent.js'
import type { Rate } from '../domain/yields.js'

/** The market rates of a chain. */
export type ChainRates = { client: { chain: Chain }; rates: Rate[] }

/** When fewer deposits of the same size would fill a market, its plans are serialized by a lock. */
const CROWD = 100n

/** Input of a plan. `promised`: base units that open intents will deposit, by market. */
type MarketCapacity = { offers: ChainRates[]; promised: Map<Rate, bigint> }

/**
 * Plans with the capacity that each market has after the deposits of all open intents of all accounts. Where little is
 * left, the capacity is locked until the transaction ends, and read again.
 */
export async function planWithinRooms(
  trx: Db,
  { offers, promised }: MarketCapacity,
  make: (rates: Rate[]) => ExecutionPlan,
): Promise<ExecutionPlan> {
  const rates = listRoomLeft(offers, promised)
  const plan = make(rates)
  const room = narrowRoomOf(plan, rates, offers)
  if (!room) return plan
  await lockRoom(trx, room)
  const rooms = roomsIn(offers)
  const units = await readPromised(
    trx,
    rooms.map((one) => one.room),
  )
  return make(listRoomLeft(offers, new Map(rooms.map(({ rate }, i) => [rate, units[i] ?? 0n]))))
}

/** The capacity of each market that is bounded and open. */
export function roomsIn(offers: ChainRates[]): { rate: Rate; room: Room }[] {
  return offers.flatMap(({ client, rates }) =>
    rates
      .filter(({ roomUnits }) => roomUnits !== undefined && roomUnits > 0n)
      .map((rate) => ({ rate, room: roomOf(client.chain, rate) })),
  )
}

/** The rates, with reserved deposits subtracted from their capacity. */
function listRoomLeft(offers: ChainRates[], promised: Map<Rate, bigint>): Rate[] {
  return offers.flatMap(({ rates }) =>
    rates.map((rate) => {
      const taken = promised.get(rate) ?? 0n
      if (rate.roomUnits === undefined || taken === 0n) return rate
      return { ...rate, roomUnits: rate.roomUnits > taken ? rate.roomUnits - taken : 0n }
    }),
  )
}

function roomOf(chain: Chain, { market: address }: Rate): Room {
  const market = getMarket(chain, address)
  const markets = marketsSharing(chain, market).map((other) => other.address)
  return { chainId: chain.chainId, markets, token: market.underlying }
}

/** The market of the plan's deposit, when the deposit leaves little capacity. */
function narrowRoomOf(
  { steps }: ExecutionPlan,
  rates: Rate[],
  offers: ChainRates[],
): Room | undefined {
  const step = steps.find((one): one is DepositStep => one.type === 'deposit')
  const chain = offers.find(({ client }) => client.chain.name === step?.chain)?.client.chain
  const rate = rates.find((one) => one.chain === step?.chain && one.market === step.market)
  if (!step || !chain || rate?.roomUnits === undefined) return undefined
  return rate.roomUnits < CROWD * assetUnits(step.amount) ? roomOf(chain, rate) : undefined
}
