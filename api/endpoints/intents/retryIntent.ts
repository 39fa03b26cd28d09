import { z } from 'zod'
import { findRetry, getIntent, lockFailed, type StoredIntent } from '../../../db/intents/intents.js'
import { requestOf } from '../../../db/intents/storedRequest.js'
import { lockWallet } from '../../../db/intents/reservations.js'
import { getUsableWallet } from '../../../db/pauses.js'
import { lockAccount } from '../../../db/usage/metering.js'
import { invalidRequest, ServiceError } from '../../../domain/errors.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { remainingRequest } from '../../../domain/intent/retry.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { emptyBody } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { dryRunAnswer, plannedIntent } from '../../schemas/examples/plannedIntent.js'
import { dryRun, intent as intentResource } from '../../schemas/intents.js'
import { dryRunQuery, intentIdInput } from '../../schemas/parameters.js'
import { intentBody } from './intentBody.js'
import { previewIntent, submitIntent } from './submitIntent.js'
import type { Caller } from '../../http/auth/caller.js'
import type { Answer, Commit } from '../../http/commit.js'
import type { Services } from '../../http/services.js'
import type { IntentTimeline } from '../../../db/intents/timeline.js'

class ConcurrentRetry extends Error {}

const retriedIntent = {
  ...plannedIntent,
  id: 'intent_01m7y67zz9v3vkb2n7q6p4yh8c',
  retryOf: plannedIntent.id,
}

export const retryIntent = writeRoute(
  {
    path: '/intents/:intentId/retry',
    caller: apiKey({ credits: creditCosts.retryIntent }),
    params: z.object({ intentId: intentIdInput }),
    query: dryRunQuery,
    body: emptyBody,
    docs: {
      operationId: 'retryIntent',
      tag: 'Intents',
      summary: 'Retry a failed intent',
      description:
        'Creates a new intent that completes the failed one from where the money is now. It keeps the `metadata`, apart from `simulate`. An intent can be retried once: a second call returns the same retry at no charge. A failed retry can be retried itself. The call is rejected with the reason `not_failed`, `not_final` (a reorg could still revert the failure: see `retryAfter` and `until`), `funds_in_bridge` or `nothing_left`.',
      responses: {
        200: {
          description:
            'The existing retry of the intent. Else, with `dryRun=true`: the plan that the same call would execute now.',
          schema: z.union([intentResource, dryRun]),
          examples: { before: retriedIntent, dryRun: dryRunAnswer },
        },
        201: {
          description: 'The new intent, which is being executed.',
          schema: intentResource,
          examples: { retried: retriedIntent },
          ids: { intentId: 'id' },
        },
      },
      errors: ['INSUFFICIENT_FUNDS', 'INTENT_NOT_FOUND'],
    },
  },
  async (services, { caller, requestId, params, query }, commit) => {
    const { db } = services
    const { accountId } = caller
    const { intent: failed, timeline } = await getIntent(db, accountId, params.intentId)
    const known = await findRetry(db, accountId, failed.id)
    if (known) return alreadyRetried(services, caller, known)
    assertSettled(failed, timeline)
    const { effects } = timeline
    const request = remainingRequest({ request: requestOf(failed), plan: failed.plan, effects })
    const wallet = await getUsableWallet(db, accountId, failed.walletId)
    const metadata = keptMetadata(failed)
    const owner = { accountId, walletId: wallet.id, requestId, retryOf: failed.id, ...metadata }
    if (query.dryRun === 'true') {
      return { status: 200, body: await previewIntent(services, { wallet, request, owner }) }
    }
    const commitOnce: Commit = (work) =>
      commit(async (trx) => {
        // Concurrent retries wait here until this one is committed.
        await lockWallet(trx, wallet.id)
        if (await findRetry(trx, accountId, failed.id)) throw new ConcurrentRetry()
        const answer = await work(trx)
        // Account before intent: the lock order of a cancellation. The lock keeps the intent failed until the commit.
        await lockAccount(trx, accountId)
        if (!(await lockFailed(trx, accountId, failed.id))) throw notFinal()
        return answer
      })
    try {
      return await submitIntent(services, { wallet, request, owner }, commitOnce)
    } catch (error) {
      const existing =
        error instanceof ConcurrentRetry && (await findRetry(db, accountId, failed.id))
      if (!existing) throw error
      return alreadyRetried(services, caller, existing)
    }
  },
)

async function alreadyRetried(
  { db, registry }: Services,
  { accountId, scopes }: Caller,
  { id }: StoredIntent,
): Promise<Answer> {
  const { intent, timeline } = await getIntent(db, accountId, id)
  return { status: 200, body: intentBody(registry, intent, { timeline, scopes }) }
}

/** The metadata of the failed intent without `simulate`, so that the retry does not fail on purpose. */
function keptMetadata({ metadata }: StoredIntent): { metadata?: Record<string, unknown> } {
  if (!metadata) return {}
  const kept = Object.entries(metadata).filter(([name]) => name !== 'simulate')
  return kept.length > 0 ? { metadata: Object.fromEntries(kept) } : {}
}

function assertSettled({ status }: StoredIntent, { unsettled }: IntentTimeline): void {
  if (status !== 'failed') {
    throw invalidRequest('intentId', 'Only a failed intent can be retried.', 'not_failed')
  }
  if (unsettled?.until) throw notSettledBefore(unsettled.until)
  if (unsettled) throw notFinal()
}

function notFinal() {
  const message = 'The failure is not final yet: a reorg could still revert it. Try again later.'
  return invalidRequest('intentId', message, 'not_final')
}

function notSettledBefore(until: Date) {
  const time = until.toISOString()
  const message = `A reorg could still revert the failure. Retry the intent after ${time}.`
  const retryAfter = Math.max(1, Math.ceil((until.getTime() - Date.now()) / 1_000))
  const issues = [{ path: 'intentId', message }]
  return new ServiceError('INVALID_REQUEST', message, {
    ...{ reason: 'not_final', retryAfter, until: time, issues },
  })
}
