import { z } from 'zod'
import { BEGINNING, readEventFloor, wasSettled } from '../../../db/intents/events.js'
import { getIntent, type Intent } from '../../../db/intents/intents.js'
import { isSettled } from '../../../domain/events.js'
import { prices } from '../../../domain/prices.js'
import { keyOrReadToken } from '../../http/auth/readToken.js'
import { streamRoute } from '../../http/streaming/streamRoute.js'
import { eventIdInput } from '../../schemas/events.js'
import { intentIdInput, readTokenInput } from '../../schemas/parameters.js'
import { KEPT, RESUMING, exampleStream } from './eventDocs.js'
import { eventText } from './eventText.js'
import { readStart } from './readStart.js'
import type { Db } from '../../../db/connection/connect.js'

export const streamIntentEvents = streamRoute(
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

/** True when what there was to tell of an intent is kept no longer: there is nothing to wait for. */
async function isStoryGone(db: Db, { status, error, endedAt }: Intent): Promise<boolean> {
  if (!endedAt || !isSettled(status, error)) return false
  const { before } = await readEventFloor(db)
  return before !== null && endedAt < before
}
