import { z } from 'zod'
import {
  BEGINNING,
  findPosition,
  readEventFloor,
  readEvents,
  readLastPosition,
  wasSettled,
  type EventFilter,
  type Position,
} from '../../../db/intents/events.js'
import { getIntent, type Intent } from '../../../db/intents/intents.js'
import { invalidRequest } from '../../../domain/errors.js'
import { eventBody, fromEventId, toEventId } from '../../../domain/eventBody.js'
import { fromPublicType, isSettled, type PublicEventType } from '../../../domain/events.js'
import { safeText } from '../../schemas/safeText.js'
import { prices } from '../../../domain/prices.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { toFrame } from '../../http/streaming/eventStream.js'
import { noParams } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { parse } from '../../http/parse.js'
import { keyOrReadToken } from '../../http/auth/readToken.js'
import { streamRoute } from '../../http/streaming/streamRoute.js'
import { event, eventExamples, eventIdInput, publicTypes } from '../../schemas/events.js'
import { intentIdInput, readTokenInput } from '../../schemas/parameters.js'
import { listOf } from '../../schemas/resources.js'
import { eventText } from './eventText.js'
import type { Db } from '../../../db/connection/connect.js'

const RESUMING =
  'A client that was cut off goes on after the last event that it has, by `Last-Event-ID` or `after`: it misses none and gets none twice. Comments come every 15 s. A stream ends when this service restarts, when its client reads too slowly, and within seconds when its key ends or its account is suspended; an account may have 1,000 open at a time, above that 429 with the `window` `open streams`.'

const KEPT =
  'Events are kept for a time that the deployment sets, 90 days where it sets none, and never less than 31. After one that is kept no longer nothing can be read: 400 with the reason `event_gone`.'

const exampleStream = eventExamples
  .map((one) => toFrame({ id: one.id, type: one.type, data: one }))
  .join('')

const streamIntent = streamRoute(
  {
    path: '/intents/:intentId/events',
    caller: keyOrReadToken({ credits: prices.readEvents }),
    params: z.object({ intentId: intentIdInput }),
    query: z.strictObject({ after: eventIdInput.optional(), token: readTokenInput }),
    docs: {
      operationId: 'streamIntentEvents',
      tag: 'Events',
      summary: 'Follow an intent',
      description: `Server-sent events, from the beginning. The stream ends after \`intent.completed\`, \`intent.cancelled\`, \`intent.recovered\` and \`intent.failed\`, unless that failed with BRIDGE_TIMEOUT: then it goes on until the money has come out of the bridge (\`intent.recovered\`). Asked to go on after that, it answers 204, by which an EventSource knows that it is over. A reorg that undoes the end later is told on \`GET /events\`. An intent whose events are kept no longer answers 204. ${RESUMING} ${KEPT}`,
      responses: {},
      stream: {
        description: 'The story of the intent.',
        example: exampleStream,
      },
      errors: ['INTENT_NOT_FOUND'],
    },
  },
  {
    async tell({ db }, { caller: { accountId }, params: { intentId }, query, lastEventId }) {
      // The same for unknown and foreign ones: not found.
      const { intent } = await getIntent(db, accountId, intentId)
      const story = { filter: { intentId }, toText: eventText }
      const after = await readStart(db, accountId, lastEventId ?? query.after)
      if (!after) return { ...story, after: BEGINNING, isSettled: await isStoryGone(db, intent) }
      const wasOver = await wasSettled(db, accountId, { intentId, at: after })
      return { ...story, after, isSettled: wasOver }
    },
  },
)

const oneOrMoreTypes = z
  .string()
  .transform((names) => names.split(','))
  .pipe(z.array(z.enum(publicTypes)))
  .optional()
  .meta({
    description: 'Only those of this type, or of these: with commas between them.',
    examples: ['intent.completed,intent.failed'],
    override: { type: 'string' },
  })

const readAllEvents = streamRoute(
  {
    path: '/events',
    caller: apiKey({ credits: prices.readEvents }),
    params: noParams,
    query: z.strictObject({
      ...pageQuery,
      after: eventIdInput.optional(),
      type: oneOrMoreTypes,
      walletId: safeText(64).optional().meta({ description: 'Only those of this wallet.' }),
      intentId: safeText(64).optional().meta({ description: 'Only those of this intent.' }),
    }),
    docs: {
      operationId: 'listEvents',
      tag: 'Events',
      summary: 'Read or follow all events',
      description: `A list, oldest first. Whoever polls asks with the \`id\` of his last event as \`after\`. With \`Accept: text/event-stream\` server-sent events without an end, from now on or after the event that is named; \`limit\` and \`cursor\` are for the list. ${RESUMING} ${KEPT}`,
      responses: {
        200: {
          description: 'A page of events, or with `Accept: text/event-stream` the events.',
          schema: listOf(event, 'EventList', 'Events, oldest first.'),
          examples: { last: { data: [...eventExamples], hasMore: false, nextCursor: null } },
        },
      },
      stream: { description: 'What happens in the account.', example: exampleStream },
      errors: [],
    },
  },
  {
    async tell({ db }, { caller: { accountId }, query, lastEventId }) {
      const filter = toFilter(query)
      const after = await readStart(db, accountId, lastEventId ?? query.after)
      if (after) return { filter, after, toText: eventText }
      const last = await readLastPosition(db, accountId)
      return { filter, after: last, startId: toEventId(last.id), toText: eventText }
    },
    async list({ db }, { caller: { accountId }, query }) {
      const slice = toSlice(query, /^\d{1,18}$/)
      const { limit, before } = slice
      if (before !== undefined && query.after !== undefined) {
        throw invalidRequest('after', 'Send either `cursor` or `after`.')
      }
      const start = before === undefined ? query.after : toEventId(BigInt(before))
      const place = await readStart(db, accountId, start)
      const after = place && fromEventId(start ?? '')
      const filter = toFilter(query)
      const events = await readEvents(db, accountId, {
        ...{ ...filter, limit: limit + 1 },
        ...(after && { after }),
      })
      const rows = events.map((one) => ({ id: one.id.toString(), event: one }))
      return { status: 200, body: pageBody(rows, slice, (row) => eventBody(row.event)) }
    },
  },
)

export const eventRoutes = [readAllEvents, streamIntent]

type FilterQuery = {
  type?: PublicEventType[] | undefined
  walletId?: string | undefined
  intentId?: string | undefined
}

const toFilter = ({ type, walletId, intentId }: FilterQuery): EventFilter => ({
  ...(type && { types: type.map(fromPublicType) }),
  ...(walletId !== undefined && { walletId }),
  ...(intentId !== undefined && { intentId }),
})

/** True when what there was to tell of an intent is kept no longer: there is nothing to wait for. */
async function isStoryGone(db: Db, { status, error, endedAt }: Intent): Promise<boolean> {
  if (!endedAt || !isSettled(status, error)) return false
  const { before } = await readEventFloor(db)
  return before !== null && endedAt < before
}

/**
 * Where a client wants to go on, undefined when he names no event.
 *
 * @throws {ServiceError} INVALID_REQUEST for what is no event of the account.
 */
async function readStart(
  db: Db,
  accountId: string,
  name: string | undefined,
): Promise<Position | undefined> {
  if (!name) return undefined
  const id = fromEventId(parse(z.object({ after: eventIdInput }), { after: name }).after)
  if (id === 0n) return BEGINNING
  const place = await findPosition(db, accountId, id)
  if (place) return place
  if (id <= (await readEventFloor(db)).id) {
    throw invalidRequest('after', 'This event is kept no longer.', 'event_gone')
  }
  const message = 'after, or Last-Event-ID, is not the id of an event of this account.'
  throw invalidRequest('after', message)
}
