import { z } from 'zod'
import { getIntent } from '../../../db/intents/intents.js'
import { listIntents } from '../../../db/intents/listIntents.js'
import { isSettled } from '../../../domain/events.js'
import { isTerminal } from '../../../domain/intent.js'
import { safeText } from '../../schemas/safeText.js'
import { prices } from '../../../domain/prices.js'
import { bridgeRequest, lendRequest, withdrawRequest } from '../../schemas/examples/resources.js'
import {
  completedIntent,
  dryRunAnswer,
  failedIntent,
  plannedIntent,
  waitingIntent,
} from '../../schemas/examples/plannedIntent.js'
import { intentBody } from './intentBody.js'
import { readChanged, versionOf, type State } from './waiting.js'
import { previewIntent, submitIntent, toSubmission } from './submitIntent.js'
import { intentRequestBody } from '../../schemas/intentRequest.js'
import {
  intentFilterQuery,
  intentIdInput,
  readTokenInput,
  toIntentFilter,
} from '../../schemas/parameters.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { keyOrReadToken } from '../../http/auth/readToken.js'
import { readRoute, writeRoute } from '../../http/route.js'
import { dryRun, intent as intentResource } from '../../schemas/intents.js'
import { listOf } from '../../schemas/resources.js'
import type { Services } from '../../http/services.js'

const createIntent = writeRoute(
  {
    path: '/intents',
    caller: apiKey({ credits: prices.createIntent }),
    keepsKeys: true,
    params: noParams,
    query: z.strictObject({
      dryRun: z
        .enum(['true', 'false'])
        .default('false')
        .meta({
          description: 'Answer with the plan only: nothing is stored, started or charged.',
          override: { type: 'boolean', default: false },
        }),
    }),
    body: intentRequestBody,
    docs: {
      operationId: 'createIntent',
      tag: 'Intents',
      summary: 'Create and execute an intent',
      description:
        'The intent is planned at once and executed asynchronously. Poll `GET /intents/{intentId}` every 5 to 10 seconds. Its credits come back when it ends before anything of it was signed, unless the chain has refused it.',
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

const MAX_WAIT_S = 60

const readIntent = readRoute(
  {
    path: '/intents/:intentId',
    caller: keyOrReadToken({ credits: prices.readIntent }),
    params: z.object({ intentId: intentIdInput }),
    query: z.strictObject({
      wait: z
        .string()
        .regex(/^\d{1,2}$/, { error: 'must be a whole number of seconds', abort: true })
        .refine((digits) => Number(digits) <= MAX_WAIT_S, `must be at most ${MAX_WAIT_S}`)
        .transform(Number)
        .default(0)
        .meta({
          description:
            'Answer at the next change, or after that many seconds; at once when the intent has ended.',
          examples: [30],
          override: { type: 'integer', minimum: 0, maximum: MAX_WAIT_S, default: 0 },
        }),
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
    if (seconds > 0 && state.version === version && !state.isOver) {
      const waiting = { accountId, intentId, seconds, version, gone: whenGone() }
      state = await readChanged(services, waiting, read)
    }
    return { status: 200, body: state.body, headers: { 'X-Intent-Version': state.version } }
  },
)

async function readState(
  { db, registry, readProgress }: Services,
  accountId: string,
  intentId: string,
): Promise<State> {
  const { intent, story } = await getIntent(db, accountId, intentId)
  const progress = isTerminal(intent.status) ? undefined : await readProgress(intent.id)
  const body = intentBody(registry, intent, { story, progress })
  return { body, version: versionOf(body), isOver: isSettled(intent.status, intent.error) }
}

const listAllIntents = readRoute(
  {
    path: '/intents',
    caller: apiKey({ credits: prices.listIntents }),
    params: noParams,
    query: z.strictObject({ ...pageQuery, ...intentFilterQuery }),
    docs: {
      operationId: 'listIntents',
      tag: 'Intents',
      summary: 'List intents',
      description:
        'Newest first, as they are stored. Read a running intent by its id for its very latest state.',
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
    const slice = toSlice(query, /^intent_[0-9a-z]{26}$/)
    const { db, registry } = services
    const filter = toIntentFilter(query)
    const intents = await listIntents(db, caller.accountId, { ...filter, slice })
    const body = pageBody(intents, slice, ({ story, ...intent }) =>
      intentBody(registry, intent, { story }),
    )
    return { status: 200, body }
  },
)

export const intentRoutes = [createIntent, listAllIntents, readIntent]
