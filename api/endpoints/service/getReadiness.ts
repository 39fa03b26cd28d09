import { z } from 'zod'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { readinessAnswer } from '../../schemas/examples/resources.js'
import { readiness } from '../../schemas/readiness.js'
import { readReadinessBody } from './readinessBody.js'

/** For operators: what the latest probe has found. Without `verbose` the path is the probe of a supervisor. */
export const getReadiness = readRoute(
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
