import {
  lockCapacityPool,
  readReservedInMarkets,
  type CapacityPool,
} from '../db/intents/reservations.js'
import { getMarket, marketsSharing } from '../evm/lending/markets.js'
import { assetUnits } from '../domain/money.js'
import type { Chain } from '../evm/registry.js'
import type { Db } from '../db/client/connect.js'
import type { DepositStep, StepPlan } from '../domain/intent/intent.js'
import type { Rate } from '../domain/yields.js'

/** The market rates of a chain. */
export type ChainRates = { client: { chain: Chain }; rates: Rate[] }

/** When fewer deposits of the same size would fill a market, its plans are serialized by a lock. */
const LOCK_BELOW_DEPOSITS = 100n

/** Input of a plan. `reservedInMarkets`: base units that open intents will deposit, by market. */
type CapacityInput = { offers: ChainRates[]; reservedInMarkets: Map<Rate, bigint> }

/**
 * Plans with the capacity that each market has after the deposits of all open intents of all accounts. Where little is
 * left, the capacity is locked until the transaction ends, and read again.
 */
export async function planWithinCapacity(
  trx: Db,
  { offers, reservedInMarkets }: CapacityInput,
  make: (rates: Rate[]) => StepPlan,
): Promise<StepPlan> {
  const rates = listCapacityLeft(offers, reservedInMarkets)
  const plan = make(rates)
  const capacity = narrowCapacityOf(plan, rates, offers)
  if (!capacity) return plan
  await lockCapacityPool(trx, capacity)
  const capacities = capacitiesIn(offers)
  const units = await readReservedInMarkets(
    trx,
    capacities.map((one) => one.capacity),
  )
  return make(
    listCapacityLeft(offers, new Map(capacities.map(({ rate }, i) => [rate, units[i] ?? 0n]))),
  )
}

/** The capacity of each market that is bounded and open. */
export function capacitiesIn(offers: ChainRates[]): { rate: Rate; capacity: CapacityPool }[] {
  return offers.flatMap(({ client, rates }) =>
    rates
      .filter(({ capacityUnits }) => capacityUnits !== undefined && capacityUnits > 0n)
      .map((rate) => ({ rate, capacity: capacityOf(client.chain, rate) })),
  )
}

/** The rates, with reserved deposits subtracted from their capacity. */
function listCapacityLeft(offers: ChainRates[], reservedInMarkets: Map<Rate, bigint>): Rate[] {
  return offers.flatMap(({ rates }) =>
    rates.map((rate) => {
      const reserved = reservedInMarkets.get(rate) ?? 0n
      if (rate.capacityUnits === undefined || reserved === 0n) return rate
      return {
        ...rate,
        capacityUnits: rate.capacityUnits > reserved ? rate.capacityUnits - reserved : 0n,
      }
    }),
  )
}

function capacityOf(chain: Chain, { market: address }: Rate): CapacityPool {
  const market = getMarket(chain, address)
  const markets = marketsSharing(chain, market).map((other) => other.address)
  return { chainId: chain.chainId, markets, token: market.underlying }
}

/** The market of the plan's deposit, when the deposit leaves little capacity. */
function narrowCapacityOf(
  { steps }: StepPlan,
  rates: Rate[],
  offers: ChainRates[],
): CapacityPool | undefined {
  const step = steps.find((one): one is DepositStep => one.type === 'deposit')
  const chain = offers.find(({ client }) => client.chain.name === step?.chain)?.client.chain
  const rate = rates.find((one) => one.chain === step?.chain && one.market === step.market)
  if (!step || !chain || rate?.capacityUnits === undefined) return undefined
  return rate.capacityUnits < LOCK_BELOW_DEPOSITS * assetUnits(step.amount)
    ? capacityOf(chain, rate)
    : undefined
}
