import { z } from 'zod'
import { cancelIntent as cancelIntentRow, getIntent } from '../../../db/intents/intents.js'
import { invalidRequest } from '../../../domain/errors.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { emptyBody, noQuery } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { cancelledIntent } from '../../schemas/examples/plannedIntent.js'
import { intent as intentResource } from '../../schemas/intents.js'
import { intentIdInput } from '../../schemas/parameters.js'
import { intentBody } from './intentBody.js'

const refusals = {
  already_signed:
    'A step of this intent is signed and unfinished, or its money is in the bridge. It cannot be cancelled now.',
  already_over: 'This intent has already ended.',
}

export const cancelIntent = writeRoute(
  {
    path: '/intents/:intentId/cancel',
    caller: apiKey({ credits: creditCosts.cancelIntent, refunds: true }),
    params: z.object({ intentId: intentIdInput }),
    query: noQuery,
    body: emptyBody,
    docs: {
      operationId: 'cancelIntent',
      tag: 'Intents',
      summary: 'Cancel an intent',
      description:
        'Cancels an intent while none of its steps is signed and unfinished. Else it returns 400 with the reason `already_signed` or `already_over`. A cancelled intent is `failed` with the code CANCELLED. Its credits are refunded unless a step was completed. Completed steps stand: `error.funds` reports where the money is, and it can be used at once. A second call returns the same response.',
      responses: {
        200: {
          description: 'The intent is cancelled.',
          schema: intentResource,
          examples: { cancelled: cancelledIntent },
        },
      },
      errors: ['INTENT_NOT_FOUND'],
    },
  },
  async ({ registry }, { caller: { accountId, scopes }, params: { intentId } }, commit) =>
    commit(async (trx) => {
      const verdict = await cancelIntentRow(trx, accountId, intentId)
      if (verdict !== 'cancelled') throw invalidRequest('intentId', refusals[verdict], verdict)
      const { intent, timeline } = await getIntent(trx, accountId, intentId)
      return { status: 200, body: intentBody(registry, intent, { timeline, scopes }) }
    }),
)
