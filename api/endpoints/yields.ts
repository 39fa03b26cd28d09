import { z } from 'zod'
import { askChains, unavailableField } from '../../chains/ask.js'
import { safeText } from '../../domain/intent.js'
import { prices } from '../../domain/prices.js'
import { bestRate, explainBest, isOpen, type Rate } from '../../domain/yields.js'
import { readSharedRates } from '../../protocols/lending/sharedRates.js'
import { yieldsAnswer } from '../schemas/examples.js'
import { apiKey } from '../http/apiKey.js'
import { noParams } from '../http/input.js'
import { readRoute } from '../http/route.js'
import { yields } from '../schemas/resources.js'

/** Which rates a caller wants to see. */
export const rateFilters = {
  chain: safeText(32)
    .optional()
    .meta({ description: 'Only this chain, by its name or alias.', examples: ['arbitrum'] }),
  asset: safeText(32)
    .optional()
    .meta({ description: 'Only this token.', examples: ['USDC'] }),
  protocol: safeText(32)
    .optional()
    .meta({ description: 'Only this lending protocol.', examples: ['aave-v3'] }),
}

const readYields = readRoute(
  {
    path: '/yields',
    caller: apiKey({ credits: prices.readYields }),
    params: noParams,
    query: z.strictObject(rateFilters),
    docs: {
      operationId: 'getYields',
      tag: 'Yields',
      summary: 'Get available APYs',
      description:
        'Markets that take deposits now, read from the chains, at most 5 seconds old. A chain that does not answer is named in `unavailable`.',
      responses: {
        200: {
          description: 'The rates that match, and the best of them.',
          schema: yields,
          examples: { yields: yieldsAnswer },
        },
      },
      errors: [],
    },
  },
  async ({ chains, registry }, { query }) => {
    const only = query.chain === undefined ? undefined : registry.resolve(query.chain).name
    const clients = chains.list.filter(({ chain }) => !only || chain.name === only)
    const { answers, unavailable } = await askChains(clients, readSharedRates)
    const rates = answers.flat().filter((rate) => isOpen(rate) && matches(rate, query))
    const best = bestRate(rates)
    const body = {
      rates: rates.map(rateBody),
      best: best ? { ...rateBody(best), reasoning: explainBest(best, rates) } : null,
      ...unavailableField(unavailable),
    }
    return { status: 200, body }
  },
)

export const yieldRoutes = [readYields]

type Filter = { asset?: string | undefined; protocol?: string | undefined }
const matches = (rate: Rate, { asset, protocol }: Filter) =>
  (!asset || rate.asset === asset) && (!protocol || rate.protocol === protocol)

const rateBody = ({ chain, protocol, asset, apyPercent }: Rate) => ({
  chain,
  protocol,
  asset,
  apy: apyPercent,
})
