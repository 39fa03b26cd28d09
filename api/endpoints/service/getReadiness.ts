import { z } from 'zod'
import { disabledIn, describeCapability } from '../../../domain/capability.js'
import { fromUnits } from '../../../domain/money.js'
import { readinessAnswer } from '../../schemas/examples/resources.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { readiness } from '../../schemas/readiness.js'
import { withPauses } from '../../../probe/pauses.js'
import type { ChainReport } from '../../../probe/chain.js'
import type { Purse } from '../../../probe/purses.js'
import type { Services } from '../../http/services.js'

/** For operators: what the latest probe has found. Without `verbose` the path is the probe of a supervisor. */
const getReadiness = readRoute(
  {
    path: '/readyz',
    caller: apiKey({ credits: 0 }),
    params: noParams,
    query: z.strictObject({
      verbose: z.literal('true').meta({
        description:
          'Without it no key is needed, and the answer says only whether the API is ready.',
      }),
    }),
    docs: {
      operationId: 'getReadiness',
      tag: 'Operation',
      summary: 'Get the state of the deployment',
      description:
        'What was found when the deployment was last compared with its chains: endpoints, what is disabled and why, and what treasury and lanes hold. It is compared anew every few minutes.',
      responses: {
        200: {
          description: 'The latest report.',
          schema: readiness,
          examples: { readiness: readinessAnswer },
        },
      },
      errors: [],
    },
  },
  async (services) => ({ status: 200, body: await readReadinessBody(services) }),
)

/** What the latest probe has found, with what is paused now. */
export async function readReadinessBody({
  prober,
  db,
  registry,
  requestLog,
}: Pick<Services, 'prober' | 'db' | 'registry' | 'requestLog'>): Promise<
  z.infer<typeof readiness>
> {
  const { checkedAt, chains, purses } = prober.latest() ?? (await prober.probe())
  // Operators ask for it right after they have paused something.
  const paused = await withPauses(db, registry, chains)
  return {
    checkedAt: checkedAt.toISOString(),
    chains: paused.map(chainBody),
    treasury: purses.filter(({ role }) => role === 'treasury').map(purseBody),
    lanes: purses.filter(({ role }) => role === 'lane').map(purseBody),
    ...(requestLog && { requestLog: requestLog.state() }),
  }
}

export const readinessRoutes = [getReadiness]

const chainBody = ({ chain, answered, endpoints, findings }: ChainReport) => ({
  ...{ chain, answered, endpoints },
  disabled: disabledIn(findings).map(({ capability, reason }) => {
    return { capability, what: describeCapability(capability), reason }
  }),
  checks: findings.map(({ check, outcome, detail }) => ({ check, outcome, detail })),
})

const purseBody = ({ chain, address, asset, units, lasts }: Purse) => ({
  ...{ chain, address, asset },
  balance: fromUnits(units, asset === 'ETH' ? 18 : 6),
  lasts: Number(lasts),
})
