import { z } from 'zod'
import { listIntents as listIntentRows } from '../../../db/intents/listIntents.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { readRoute } from '../../http/route.js'
import { completedIntent } from '../../schemas/examples/executedIntent.js'
import { intent as intentResource } from '../../schemas/intents.js'
import { intentFilterQuery, toIntentFilter } from '../../schemas/parameters.js'
import { listOf } from '../../schemas/resources.js'
import { intentBody } from './intentBody.js'

export const listIntents = readRoute(
  {
    path: '/intents',
    caller: apiKey({ credits: creditCosts.listIntents }),
    params: noParams,
    query: z.strictObject({ ...pageQuery(/^intent_[0-9a-z]{26}$/), ...intentFilterQuery }),
    docs: {
      operationId: 'listIntents',
      tag: 'Intents',
      summary: 'List intents',
      description:
        'Lists intents as stored, newest first. Get a running intent by its id for its latest state.',
      responses: {
        200: {
          description: 'A page of intents.',
          schema: listOf(intentResource, 'IntentList', 'Intents, newest first.'),
          examples: {
            last: { data: [completedIntent], hasMore: false, nextCursor: null },
          },
        },
      },
      errors: [],
    },
  },
  async (services, { caller, query }) => {
    const slice = toSlice(query)
    const { db, registry } = services
    const filter = toIntentFilter(query)
    const { accountId, scopes } = caller
    const intents = await listIntentRows(db, accountId, { ...filter, slice })
    const body = pageBody(intents, slice, ({ timeline, ...intent }) =>
      intentBody(registry, intent, { timeline, scopes }),
    )
    return { status: 200, body }
  },
)
