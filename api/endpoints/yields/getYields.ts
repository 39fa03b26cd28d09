import { z } from 'zod'
import { askChains, unavailableField } from '../../../evm/rpc/askChains.js'
import { aliasOf, tokensOf, type Market } from '../../../evm/registry.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { bestRate, explainBest, isOpen, type Rate } from '../../../domain/yields.js'
import { disabledMarket, readSharedRates } from '../../../evm/lending/markets.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { yieldsAnswer } from '../../schemas/examples/resources.js'
import { yields } from '../../schemas/resources.js'
import { rateFilters } from './rateFilters.js'
import type { ChainClient } from '../../../evm/connect.js'

export const getYields = readRoute(
  {
    path: '/yields',
    caller: apiKey({ credits: creditCosts.readYields }),
    params: noParams,
    query: z.strictObject(rateFilters),
    docs: {
      operationId: 'getYields',
      tag: 'Yields',
      summary: 'Get available APYs',
      description:
        'Returns the rates of markets that accept deposits, read from the chains and at most 5 seconds old. A chain that does not respond is listed in `unavailable`. An unusable market is listed in `disabled` with the reason.',
      responses: {
        200: {
          description: 'The matching rates, and the best of them.',
          schema: yields,
          examples: { yields: yieldsAnswer },
        },
      },
      errors: [],
    },
  },
  async ({ chains }, { query }) => {
    const { chain: only } = query
    const clients = chains.list.filter(({ chain }) => !only || chain.name === only)
    const { answers, unavailable } = await askChains(clients, async (client) => {
      const { rates, unreadable } = await readSharedRates(client)
      return { rates, left: unreadable.map(({ market, why }) => disabledBody(client, market, why)) }
    })
    const left = answers.flatMap((answer) => answer.left)
    const rates = answers
      .flatMap((answer) => answer.rates)
      .filter((rate) => isOpen(rate) && matches(rate, query))
    const best = bestRate(rates)
    const body = {
      rates: rates.map(rateBody),
      best: best ? { ...rateBody(best), reasoning: explainBest(best, rates) } : null,
      ...unavailableField(unavailable),
      ...disabledField(
        [...clients.flatMap(disabledMarkets), ...left].filter((one) => matches(one, query)),
      ),
    }
    return { status: 200, body }
  },
)

type DisabledMarketBody = {
  chain: string
  alias: string
  protocol: string
  asset?: string
  reason: string
}

/** Markets that the latest health probe has disabled. */
function disabledMarkets(client: ChainClient): DisabledMarketBody[] {
  return client.chain.markets.flatMap((market) => {
    const reason = disabledMarket(client, market)
    return reason ? [disabledBody(client, market, reason)] : []
  })
}

function disabledBody(
  { chain }: ChainClient,
  { protocol, underlying }: Market,
  reason: string,
): DisabledMarketBody {
  const asset = tokensOf(chain).find(({ address }) => address === underlying)?.symbol
  return { chain: chain.name, alias: chain.alias, protocol, ...(asset && { asset }), reason }
}

/** The field `disabled`, absent when no market is disabled. */
const disabledField = (disabled: DisabledMarketBody[]) => (disabled.length > 0 ? { disabled } : {})

type Filter = { asset?: string | undefined; protocol?: string | undefined }

const matches = (
  rate: Pick<DisabledMarketBody, 'asset' | 'protocol'>,
  { asset, protocol }: Filter,
) => (!asset || rate.asset === asset) && (!protocol || rate.protocol === protocol)

const rateBody = ({ chain, protocol, asset, apyPercent }: Rate) => ({
  chain,
  alias: aliasOf(chain),
  protocol,
  asset,
  apy: apyPercent,
})
