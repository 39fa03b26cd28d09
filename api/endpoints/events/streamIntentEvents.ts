import { z } from 'zod'
import { BEGINNING, readEventFloor, wasSettled } from '../../../db/intents/events.js'
import { getIntent, type StoredIntent } from '../../../db/intents/intents.js'
import { isSettled } from '../../../domain/events/events.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { keyOrReadToken } from '../../http/auth/readToken.js'
import { streamRoute } from '../../http/streaming/streamRoute.js'
import { afterInput } from '../../schemas/events.js'
import { intentIdInput, readTokenInput } from '../../schemas/parameters.js'
import { KEPT, RESUMING, exampleStream } from './eventDocs.js'
import { eventText } from './eventText.js'
import { readStart } from './readStart.js'
import type { Db } from '../../../db/client/connect.js'

export const streamIntentEvents = streamRoute(
  {
    path: '/intents/:intentId/events',
    caller: keyOrReadToken({ credits: creditCosts.readEvents }),
    params: z.object({ intentId: intentIdInput }),
    query: z.strictObject({ after: afterInput, token: readTokenInput }),
    docs: {
      operationId: 'streamIntentEvents',
      tag: 'Events',
      summary: 'Follow an intent',
      description: `Streams the events of an intent from the beginning as server-sent events. The stream ends after \`intent.completed\`, \`intent.cancelled\`, \`intent.recovered\` and \`intent.failed\`. After a failure with BRIDGE_TIMEOUT it stays open until the money arrives from the bridge (\`intent.recovered\`). A request to resume after the end returns 204, and an EventSource then stops. A later reorg that reverts the end is reported on \`GET /events\` only. An intent whose events are deleted returns 204. ${RESUMING} ${KEPT}`,
      responses: {},
      stream: {
        description: 'The events of the intent.',
        example: exampleStream,
      },
      errors: ['INTENT_NOT_FOUND'],
    },
  },
  {
    async stream({ db }, { caller: { accountId }, params: { intentId }, query, lastEventId }) {
      const { intent } = await getIntent(db, accountId, intentId)
      const timeline = { filter: { intentId }, toText: eventText }
      const after = await readStart(db, accountId, lastEventId ?? query.after)
      if (!after)
        return { ...timeline, after: BEGINNING, isSettled: await isTimelineGone(db, intent) }
      const wasEnded = await wasSettled(db, accountId, { intentId, at: after })
      return { ...timeline, after, isSettled: wasEnded }
    },
  },
)

/** True when the events of a finished intent are deleted. */
async function isTimelineGone(db: Db, { status, error, endedAt }: StoredIntent): Promise<boolean> {
  if (!endedAt || !isSettled(status, error)) return false
  const { before } = await readEventFloor(db)
  return before !== null && endedAt < before
}
