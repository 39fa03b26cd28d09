import { lockRoom, readPromised, type Room } from '../db/lanes/reservations.js'
import { getMarket, marketsSharing } from '../protocols/lending/markets.js'
import { assetUnits } from '../domain/money.js'
import type { Chain } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { DepositStep, ExecutionPlan } from '../domain/intent.js'
import type { Rate } from '../domain/yields.js'

/** What a chain said of its markets. */
export type Told = { client: { chain: Chain }; rates: Rate[] }

/** Where so many deposits of the same size would fill a market, they are planned one by one. */
const CROWD = 100n

/** What is known when a plan is made. `promised`: base units that open intents will pay in, by market. */
type Rooms = { told: Told[]; promised: Map<Rate, bigint> }

/**
 * Makes a plan with the room that each market has left once all open intents, of whichever account, have paid in
 * what they will. Where little is left the room is held until the transaction ends, and looked at again.
 */
export async function planWithinRooms(
  trx: Db,
  { told, promised }: Rooms,
  make: (rates: Rate[]) => ExecutionPlan,
): Promise<ExecutionPlan> {
  const rates = listRoomLeft(told, promised)
  const plan = make(rates)
  const room = narrowRoomOf(plan, rates, told)
  if (!room) return plan
  await lockRoom(trx, room)
  const rooms = roomsIn(told)
  const units = await readPromised(
    trx,
    rooms.map((one) => one.room),
  )
  return make(listRoomLeft(told, new Map(rooms.map(({ rate }, i) => [rate, units[i] ?? 0n]))))
}

/** The room of each market that is bounded and takes anything in. */
export function roomsIn(told: Told[]): { rate: Rate; room: Room }[] {
  return told.flatMap(({ client, rates }) =>
    rates
      .filter(({ roomUnits }) => roomUnits !== undefined && roomUnits > 0n)
      .map((rate) => ({ rate, room: roomOf(client.chain, rate) })),
  )
}

/** The rates, with what is promised taken off their rooms. */
function listRoomLeft(told: Told[], promised: Map<Rate, bigint>): Rate[] {
  return told.flatMap(({ rates }) =>
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

/** The room that a plan pays into, where it leaves little of it. */
function narrowRoomOf({ steps }: ExecutionPlan, rates: Rate[], told: Told[]): Room | undefined {
  const step = steps.find((one): one is DepositStep => one.type === 'deposit')
  const chain = told.find(({ client }) => client.chain.name === step?.chain)?.client.chain
  const rate = rates.find((one) => one.chain === step?.chain && one.market === step.market)
  if (!step || !chain || rate?.roomUnits === undefined) return undefined
  return rate.roomUnits < CROWD * assetUnits(step.amount) ? roomOf(chain, rate) : undefined
}
