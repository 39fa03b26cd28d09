import { z } from 'zod'
import { getIntent } from '../../../db/intents/intents.js'
import { createReadToken as createReadTokenRow } from '../../../db/accounts/readTokens.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { emptyBody, noQuery } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { readToken, readTokenAnswer } from '../../schemas/events.js'
import { intentIdInput } from '../../schemas/parameters.js'

export const createReadToken = writeRoute(
  {
    path: '/intents/:intentId/read-token',
    caller: apiKey({ credits: creditCosts.createReadToken }),
    scope: 'read',
    keepsNothing: true,
    params: z.object({ intentId: intentIdInput }),
    query: noQuery,
    body: emptyBody,
    docs: {
      operationId: 'createReadToken',
      tag: 'Events',
      summary: 'Create a token for a browser',
      description:
        'Creates a token that is valid for 15 minutes and grants access to `GET /intents/{intentId}` and its `/events` only. Send it as `Authorization: Bearer svc_rt_…`, or as `?token=` where no header can be sent, as by an EventSource. It works from pages of any origin, costs no credits, and is limited to 60 requests a minute. Each call creates a new token: an `Idempotency-Key` is ignored, because no response with a token is stored.',
      responses: {
        201: {
          description: 'The token. It is not shown again.',
          schema: readToken,
          examples: { token: readTokenAnswer },
        },
      },
      errors: ['INTENT_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { intentId } }, commit) => {
    await getIntent(db, accountId, intentId)
    return commit(async (trx) => {
      const { token, expiresAt } = await createReadTokenRow(trx, accountId, intentId)
      return { status: 201, body: { token, intentId, expiresAt: expiresAt.toISOString() } }
    })
  },
)
