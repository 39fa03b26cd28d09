import { z } from 'zod'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { readinessAnswer, readinessProbeAnswer } from '../../schemas/examples/resources.js'
import { readiness, readinessProbe } from '../../schemas/readiness.js'
import { readReadinessBody } from './readinessBody.js'

/** For operators: the latest health report. Without `verbose` the path is a readiness probe. */
export const getReadiness = readRoute(
  {
    path: '/readyz',
    caller: apiKey({ credits: 0 }),
    params: noParams,
    query: z.strictObject({
      verbose: z
        .enum(['true', 'false'])
        .default('false')
        .meta({
          description:
            'The whole report. Without it no key is needed, and the response is that of a readiness probe.',
          override: { type: 'boolean', default: false },
        }),
    }),
    docs: {
      operationId: 'getReadiness',
      tag: 'Operation',
      summary: 'Get the state of the deployment',
      description:
        'Reports whether the API is ready, with status 200 or 503. With `verbose=true` it returns the latest comparison of the deployment with its chains: RPC endpoints, disabled capabilities with the reason, and the balances of treasury and senders. A report that is older than five minutes is renewed first.',
      responses: {
        200: {
          description: 'The latest report.',
          schema: readiness,
          examples: { readiness: readinessAnswer },
        },
      },
      probe: { schema: readinessProbe, example: readinessProbeAnswer },
      errors: [],
    },
  },
  async (services) => ({ status: 200, body: await readReadinessBody(services) }),
)
