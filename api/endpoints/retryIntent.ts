import { z } from 'zod'
import { findRetry, getIntent, requestOf, type Intent } from '../../db/intents/intents.js'
import { hasUnsettledOperations } from '../../db/lanes/operations.js'
import { walletById } from '../../db/tenants/wallets.js'
import { ServiceError } from '../../domain/errors.js'
import { remainingRequest } from '../../domain/retry.js'
import { prices } from '../../domain/prices.js'
import { plannedIntent } from '../schemas/examples.js'
import { intentBody } from './intentBody.js'
import { submitIntent } from './submitIntent.js'
import { intentIdInput } from '../schemas/parameters.js'
import { apiKey } from '../http/apiKey.js'
import { noBody, noQuery } from '../http/input.js'
import { writeRoute } from '../http/route.js'
import { intent as intentResource } from '../schemas/intents.js'
import type { Answer, Commit } from '../http/commit.js'
import type { Services } from '../http/services.js'

class RetriedMeanwhile extends Error {}

/** A failure is final when no reorg can turn it round any more. */
const NOT_FINAL_SECONDS = 30

const retriedIntent = {
  ...plannedIntent,
  id: 'intent_01m7y67zz9v3vkb2n7q6p4yh8c',
  retryOf: plannedIntent.id,
}

const retry = writeRoute(
  {
    path: '/intents/:intentId/retry',
    caller: apiKey({ credits: prices.retryIntent }),
    params: z.object({ intentId: intentIdInput }),
    query: noQuery,
    body: noBody,
    docs: {
      operationId: 'retryIntent',
      tag: 'Intents',
      summary: 'Retry a failed intent',
      description:
        "Creates a new intent that reaches the goal of the failed one from where the money is now. An intent is retried once: a second call answers with the first one's, at no charge; a retry that fails is retried itself. Refused with the reason `not_failed`, `not_final` (a reorg could still turn the failure round: see `retryAfter`), `funds_in_bridge` or `nothing_left`.",
      responses: {
        200: {
          description: 'The intent was retried before: that retry.',
          schema: intentResource,
          examples: { before: retriedIntent },
        },
        201: {
          description: 'The new intent, which is being executed.',
          schema: intentResource,
          examples: { retried: retriedIntent },
        },
      },
      errors: ['INSUFFICIENT_FUNDS', 'INTENT_NOT_FOUND'],
    },
  },
  async (services, { caller, requestId, params }, commit) => {
    const { db } = services
    const { accountId, tier } = caller
    const { intent: failed, effects } = await getIntent(db, accountId, params.intentId)
    const known = await findRetry(db, accountId, failed.id)
    if (known) return alreadyRetried(known)
    await assertSettled(services, failed)
    const request = remainingRequest({ request: requestOf(failed), plan: failed.plan, effects })
    const wallet = await walletById.get(db, accountId, failed.walletId)
    const owner = { accountId, walletId: wallet.id, requestId, retryOf: failed.id }
    const commitOnce: Commit = (work) =>
      commit(async (trx) => {
        // The charge holds the account: nobody else retries meanwhile.
        if (await findRetry(trx, accountId, failed.id)) throw new RetriedMeanwhile()
        return work(trx)
      })
    try {
      return await submitIntent(services, { wallet, request, owner, tier }, commitOnce)
    } catch (error) {
      const twin = error instanceof RetriedMeanwhile && (await findRetry(db, accountId, failed.id))
      if (!twin) throw error
      return alreadyRetried(twin)
    }
  },
)

export const retryRoutes = [retry]

const alreadyRetried = (retry: Intent): Answer => ({
  status: 200,
  body: intentBody(retry, [], undefined),
})

async function assertSettled({ db }: Services, { accountId, id, status }: Intent) {
  if (status !== 'failed') throw refused('not_failed', 'Only a failed intent is retried.')
  if (!(await hasUnsettledOperations(db, accountId, id))) return
  const message = 'The failure is not final yet: a reorg could still turn it round. Try again.'
  throw refused('not_final', message, { retryAfter: NOT_FINAL_SECONDS })
}

function refused(reason: string, message: string, more: object = {}): ServiceError {
  const issues = [{ path: 'intentId', message }]
  return new ServiceError('INVALID_REQUEST', message, { reason, ...more, issues })
}
