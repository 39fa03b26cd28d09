import { z } from 'zod'
import { readEvents, readLastPosition, type EventFilter } from '../../../db/intents/events.js'
import { invalidRequest } from '../../../domain/errors.js'
import { eventBody, fromEventId, toEventId } from '../../../domain/events/eventBody.js'
import { fromPublicType, type PublicEventType } from '../../../domain/events/events.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { streamRoute } from '../../http/streaming/streamRoute.js'
import { afterInput, event, eventExamples, publicTypes } from '../../schemas/events.js'
import { knownNames } from '../../schemas/parameters.js'
import { listOf } from '../../schemas/resources.js'
import { safeText } from '../../schemas/safeText.js'
import { KEPT, RESUMING, exampleStream } from './eventDocs.js'
import { eventText } from './eventText.js'
import { readStart } from './readStart.js'

const oneOrMoreTypes = knownNames(publicTypes)
  .optional()
  .meta({
    description: 'Only events of this type, or of several types separated by commas.',
    examples: ['intent.completed,intent.failed'],
    override: { type: 'string' },
  })

export const listEvents = streamRoute(
  {
    path: '/events',
    caller: apiKey({ credits: creditCosts.readEvents }),
    params: noParams,
    query: z.strictObject({
      ...pageQuery(/^\d{1,18}$/),
      after: afterInput,
      type: oneOrMoreTypes,
      walletId: safeText(64).optional().meta({ description: 'Only events of this wallet.' }),
      intentId: safeText(64).optional().meta({ description: 'Only events of this intent.' }),
    }),
    docs: {
      operationId: 'listEvents',
      tag: 'Events',
      summary: 'Read or follow all events',
      description: `Returns a list, oldest first. To poll, send the \`id\` of your last event as \`after\`. With \`Accept: text/event-stream\` it returns an endless stream of server-sent events, from now on or after the named event. \`limit\` and \`cursor\` apply to the list only. ${RESUMING} ${KEPT}`,
      responses: {
        200: {
          description: 'A page of events, or a stream with `Accept: text/event-stream`.',
          schema: listOf(event, 'EventList', 'Events, oldest first.'),
          examples: { last: { data: [...eventExamples], hasMore: false, nextCursor: null } },
        },
      },
      stream: { description: 'The events of the account.', example: exampleStream },
      errors: [],
    },
  },
  {
    async stream({ db }, { caller: { accountId }, query, lastEventId }) {
      const filter = toFilter(query)
      const after = await readStart(db, accountId, lastEventId ?? query.after)
      if (after) return { filter, after, toText: eventText }
      const last = await readLastPosition(db, accountId)
      return { filter, after: last, startId: toEventId(last.id), toText: eventText }
    },
    async list({ db }, { caller: { accountId }, query }) {
      const slice = toSlice(query)
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
