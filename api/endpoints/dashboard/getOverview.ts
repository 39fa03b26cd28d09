import { z } from 'zod'
import { readCredits } from '../../../db/usage/metering.js'
import {
  countRecent,
  countToday,
  countWeek,
  readFirstSteps,
  readMonth,
  sumLent,
  type RequestCount,
  type Lent,
  type Month,
} from '../../../db/usage/overview.js'
import { assetText } from '../../../domain/money.js'
import { roles } from '../../../domain/roles.js'
import { assetOf } from '../../../evm/lending/markets.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { noParams, noQuery } from '../../http/input.js'
import type { Registry } from '../../../evm/registry.js'
import type { OverviewAnswer } from '../../schemas/activity.js'

export const getOverview = memberRoute(
  {
    ...{ method: 'get', path: '/overview', params: noParams, query: noQuery },
    ...{ body: z.undefined(), roles },
  },
  async ({ db, registry }, { caller: { accountId } }) => {
    const [credits, month, day, week, lent, intentsToday, firstSteps] = await Promise.all([
      readCredits(db, accountId),
      readMonth(db, accountId),
      countRecent(db, accountId),
      countWeek(db, accountId),
      sumLent(db, accountId),
      countToday(db, accountId),
      readFirstSteps(db, accountId),
    ])
    const body: OverviewAnswer = {
      credits: { ...credits, month: monthBody(month) },
      requests: { day: countedBody(day), week: countedBody(week) },
      money: { basis: 'deposited', markets: sumByProtocol(registry, lent) },
      ...{ intentsToday, firstSteps },
    }
    return { status: 200, body }
  },
)

const monthBody = ({ endsAt, ...month }: Month) => ({ ...month, endsAt: endsAt.toISOString() })

const countedBody = ({ since, requests, errors }: RequestCount) => ({
  since: since.toISOString(),
  ...{ requests, errors },
  successRate: requests === 0 ? null : (requests - errors) / requests,
})

/** One entry per chain, protocol and asset, largest first. Markets that are no longer listed are left out. */
function sumByProtocol(registry: Registry, lent: Lent[]) {
  const sums = new Map<string, { chain: string; protocol: string; asset: string; units: bigint }>()
  for (const { chainId, market: address, units } of lent) {
    const chain = registry.chains.find((one) => one.chainId === chainId)
    const market = chain?.markets.find((one) => one.address.toLowerCase() === address)
    if (!chain || !market) continue
    const named = { chain: chain.name, protocol: market.protocol, asset: assetOf(chain, market) }
    const key = Object.values(named).join(' ')
    sums.set(key, { ...named, units: units + (sums.get(key)?.units ?? 0n) })
  }
  return [...sums.values()]
    .sort((a, b) => (a.units > b.units ? -1 : 1))
    .map(({ units, ...named }) => ({ ...named, deposited: assetText(units) }))
}
