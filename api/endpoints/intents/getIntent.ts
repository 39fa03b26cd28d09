import { z } from 'zod'
import { getIntent as getIntentRow } from '../../../db/intents/intents.js'
import { isSettled } from '../../../domain/events.js'
import { isTerminal } from '../../../domain/intent.js'
import { prices } from '../../../domain/prices.js'
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
import type { Services } from '../../http/services.js'

export const getIntent = readRoute(
  {
    path: '/intents/:intentId',
    caller: keyOrReadToken({ credits: prices.readIntent }),
    params: z.object({ intentId: intentIdInput }),
    query: z.strictObject({
      wait: secondsToWait(
        'Answer at the next change, or after that many seconds; at once when the intent has ended.',
      ),
      version: safeText(64).optional().meta({
        description:
          'With `wait`: the `X-Intent-Version` of your last answer. Whatever has changed since then is answered at once. Without it, what changes after the call began counts.',
      }),
      token: readTokenInput,
    }),
    waits: ({ wait }) => wait,
    docs: {
      operationId: 'getIntent',
      tag: 'Intents',
      summary: 'Get the state of an intent',
      description:
        'Whoever cannot follow a stream asks with `wait=30` and the `version` of his last answer, again and again: he misses nothing and does not ask in vain. The header `X-Intent-Version` names what the answer says.',
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
  async (services, { caller: { accountId }, params: { intentId }, query, whenGone }) => {
    const read = () => readState(services, accountId, intentId)
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
  accountId: string,
  intentId: string,
): Promise<State> {
  const { intent, story } = await getIntentRow(db, accountId, intentId)
  const progress = isTerminal(intent.status) ? undefined : await readProgress(intent.id)
  const body = intentBody(registry, intent, { story, progress })
  return { body, version: versionOf(body), isOver: isSettled(intent.status, intent.error) }
}
