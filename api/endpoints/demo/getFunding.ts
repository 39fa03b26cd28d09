import { z } from 'zod'
import { getFunding as getFundingRow } from '../../../db/intents/fundings.js'
import { prices } from '../../../domain/prices.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noQuery } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { completedFunding } from '../../schemas/examples/resources.js'
import { fundingIdInput } from '../../schemas/parameters.js'
import { funding as fundingSchema } from '../../schemas/resources.js'
import { fundingBody } from './fundingBody.js'

export const getFunding = readRoute(
  {
    path: '/demo/fund/:fundingId',
    caller: apiKey({ credits: prices.readFunding }),
    params: z.object({ fundingId: fundingIdInput }),
    query: noQuery,
    docs: {
      operationId: 'getFunding',
      tag: 'Demo',
      summary: 'Get the state of a funding',
      responses: {
        200: {
          description: 'The funding.',
          schema: fundingSchema,
          examples: { completed: completedFunding },
        },
      },
      errors: ['FUNDING_NOT_FOUND'],
    },
  },
  async ({ db, registry }, { caller, params }) => {
    const { funding, operation } = await getFundingRow(db, caller.accountId, params.fundingId)
    return { status: 200, body: fundingBody(registry, funding, operation) }
  },
)
