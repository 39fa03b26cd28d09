import { z } from 'zod'
import { getIntent as getIntentRow } from '../../../db/intents/intents.js'
import { isSettled } from '../../../domain/events/events.js'
import { isTerminal } from '../../../domain/intent/intent.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { keyOrReadToken } from '../../http/auth/readToken.js'
import { readRoute } from '../../http/route.js'
import {
  completedIntent,
  failedIntent,
  waitingIntent,
} from '../../schemas/examples/executedIntent.js'
import { plannedIntent } from '../../schemas/examples/plannedIntent.js'
import { intent as intentResource } from '../../schemas/intents.js'
import { intentIdInput, readTokenInput, secondsToWait } from '../../schemas/parameters.js'
import { safeText } from '../../schemas/safeText.js'
import { intentBody } from './intentBody.js'
import { readUntil, type State, versionOf } from '../readUntil.js'
import type { Caller } from '../../http/auth/caller.js'
import type { Services } from '../../http/services.js'

export const getIntent = readRoute(
  {
    path: '/intents/:intentId',
    caller: keyOrReadToken({ credits: creditCosts.readIntent }),
    params: z.object({ intentId: intentIdInput }),
    query: z.strictObject({
      wait: secondsToWait(
        'Seconds to wait for the next change. The response is immediate when the intent has ended.',
      ),
      version: safeText(64).optional().meta({
        description:
          'With `wait`: the `X-Intent-Version` of your last response. A change since then returns at once. Without it, only changes after the start of the call count.',
      }),
      token: readTokenInput,
    }),
    waits: ({ wait }) => wait,
    docs: {
      operationId: 'getIntent',
      tag: 'Intents',
      summary: 'Get the state of an intent',
      description:
        'Returns the state of an intent. Clients without streams can repeat the call with `wait=30` and the `version` of their last response: they miss no change and receive a response only for a change. The header `X-Intent-Version` identifies the returned state.',
      responses: {
        200: {
          description: 'The intent.',
          schema: intentResource,
          examples: {
            completed: completedIntent,
            planning: plannedIntent,
            waiting: waitingIntent,
            failed: failedIntent,
          },
        },
      },
      errors: ['INTENT_NOT_FOUND'],
    },
  },
  async (services, { caller, params: { intentId }, query, whenGone }) => {
    const { accountId } = caller
    const read = () => readState(services, caller, intentId)
    let state = await read()
    const { wait: seconds, version = state.version } = query
    const isEnough = (next: State) => next.version !== version || next.isOver
    if (seconds > 0 && !isEnough(state)) {
      const waiting = { accountId, filter: { intentId }, seconds, gone: whenGone(), isEnough }
      state = await readUntil(services, waiting, read)
    }
    return { status: 200, body: state.body, headers: { 'X-Intent-Version': state.version } }
  },
)

async function readState(
  { db, registry, readProgress }: Services,
  { accountId, scopes }: Caller,
  intentId: string,
): Promise<State> {
  const { intent, timeline } = await getIntentRow(db, accountId, intentId)
  const progress = isTerminal(intent.status) ? undefined : await readProgress(intent.id)
  const body = intentBody(registry, intent, { timeline, progress, scopes })
  return { body, version: versionOf(body), isOver: isSettled(intent.status, intent.error) }
}
