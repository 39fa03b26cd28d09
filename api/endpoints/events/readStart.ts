import { z } from 'zod'
import {
  BEGINNING,
  findPosition,
  readEventFloor,
  type EventPosition,
} from '../../../db/intents/events.js'
import { invalidRequest } from '../../../domain/errors.js'
import { fromEventId } from '../../../domain/events/eventBody.js'
import { parse } from '../../http/parse.js'
import { eventIdInput } from '../../schemas/events.js'
import type { Db } from '../../../db/client/connect.js'

/**
 * The position after which a client resumes, undefined when it names no event.
 *
 * @throws {ServiceError} INVALID_REQUEST when the account has no such event.
 */
export async function readStart(
  db: Db,
  accountId: string,
  name: string | undefined,
): Promise<EventPosition | undefined> {
  if (!name) return undefined
  const id = fromEventId(parse(z.object({ after: eventIdInput }), { after: name }).after)
  if (id === 0n) return BEGINNING
  const place = await findPosition(db, accountId, id)
  if (place) return place
  if (id <= (await readEventFloor(db)).id) {
    throw invalidRequest('after', 'This event is deleted. List events without after.', 'event_gone')
  }
  const message = 'after, or Last-Event-ID, is not the id of an event of this account.'
  throw invalidRequest('after', message)
}
