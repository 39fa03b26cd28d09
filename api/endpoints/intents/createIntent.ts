import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { dryRunAnswer, plannedIntent } from '../../schemas/examples/plannedIntent.js'
import { bridgeRequest, lendRequest, withdrawRequest } from '../../schemas/examples/resources.js'
import { intentRequestBody } from '../../schemas/intentRequest.js'
import { dryRun, intent as intentResource } from '../../schemas/intents.js'
import { dryRunQuery } from '../../schemas/parameters.js'
import { previewIntent, submitIntent, toSubmission } from './submitIntent.js'

export const createIntent = writeRoute(
  {
    path: '/intents',
    caller: apiKey({ credits: creditCosts.createIntent }),
    keepsKeys: true,
    params: noParams,
    query: dryRunQuery,
    body: intentRequestBody,
    docs: {
      operationId: 'createIntent',
      tag: 'Intents',
      summary: 'Create and execute an intent',
      description:
        'Creates an intent, plans it at once and executes it asynchronously. Poll `GET /intents/{intentId}` every 5 to 10 seconds. Its credits are refunded when it ends before its first signature, unless the chain rejected it.',
      requests: { lend: lendRequest, withdraw: withdrawRequest, bridge: bridgeRequest },
      responses: {
        200: {
          description: 'With `dryRun=true`: the plan that the same call would execute now.',
          schema: dryRun,
          examples: { dryRun: dryRunAnswer },
        },
        201: {
          description: 'The intent was created and is being executed.',
          schema: intentResource,
          examples: { planning: plannedIntent },
          ids: { intentId: 'id' },
        },
      },
      errors: ['INSUFFICIENT_FUNDS', 'WALLET_NOT_FOUND'],
    },
  },
  async (services, call, commit) => {
    const submission = await toSubmission(services, call)
    if (call.query.dryRun === 'true') {
      return { status: 200, body: await previewIntent(services, submission) }
    }
    return submitIntent(services, submission, commit)
  },
)
