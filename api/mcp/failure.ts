import { z } from 'zod'
import { getIntent } from '../../db/intents/intents.js'
import { explainFailure } from '../../domain/intent/failures.js'
import { creditCosts } from '../../domain/creditCosts.js'
import { intentBody } from '../endpoints/intents/intentBody.js'
import { apiKey } from '../http/auth/apiKey.js'
import { ERRORS_PAGE } from '../http/errors.js'
import { noQuery } from '../http/input.js'
import { readRoute } from '../http/route.js'
import { inTools } from './texts.js'
import { intentIdInput } from '../schemas/parameters.js'

/** `explain_failure`: explains a failed intent from the catalogs, with its own amounts. */
export const explainRoute = readRoute(
  {
    path: '/intents/:intentId',
    caller: apiKey({ credits: creditCosts.readIntent }),
    params: z.object({ intentId: intentIdInput }),
    query: noQuery,
    docs: {
      operationId: 'explainFailure',
      tag: 'Intents',
      summary: 'Explain a failure',
      description:
        'Explains a failed intent: the code, what happened, where the money is now in words and amounts, and what to do next. For a delayed intent: what it waits for.',
      responses: {},
      errors: ['INTENT_NOT_FOUND'],
    },
  },
  async ({ db, registry }, { caller: { accountId, scopes }, params: { intentId } }) => {
    const { intent, timeline } = await getIntent(db, accountId, intentId)
    const shown = intentBody(registry, intent, { timeline, scopes })
    const { status, funds, waitingFor, delay } = shown
    const { retriedBy } = timeline
    const facts = { intentId, status, ...(retriedBy ? { retriedBy } : {}) }
    if (!intent.error) {
      const message = `The intent has not failed. It is ${intent.status}.`
      return { status: 200, body: { ...facts, failed: false, message, waitingFor, delay, funds } }
    }
    const { code, message, step, recovery } = intent.error
    const { meaning, money, hint } = explainFailure(code)
    const body = {
      ...{ ...facts, failed: true, code, message, step },
      whatHappened: meaning,
      whereTheMoneyIs: { inWords: money, funds: intent.error.funds ?? funds, recovery },
      whatToDo: retriedBy
        ? `It was retried already: see ${retriedBy}.`
        : inTools(hint, ['intentId']),
      docs: `${ERRORS_PAGE}#${code}`,
    }
    return { status: 200, body }
  },
)
