import { createList, type List, type Page, type PageParams } from '../http/pages.js'
import { follow } from '../http/stream.js'
import type { Api } from '../http/api.js'
import type { CallOptions } from '../http/send.js'
import type { Event, EventType } from './event.js'

export type EventParams = {
  /** Id of the last event that you received. */
  after?: string | undefined
  /** One type or several. */
  type?: EventType | readonly EventType[] | undefined
  walletId?: string | undefined
  intentId?: string | undefined
}
export type ListEventsParams = EventParams & PageParams
export type StreamEventsParams = EventParams & { signal?: AbortSignal | undefined }

export const createEvents = (api: Api) => ({
  /** Oldest first. */
  list(params: ListEventsParams = {}, options?: CallOptions): List<Event> {
    const read = (part: PageParams) => {
      const query = { ...params, ...part }
      // The API accepts either a cursor or `after`.
      if (query.cursor !== undefined) delete query.after
      return api.get<Page<Event>>('/v1/events', query, options)
    }
    return createList(read, params.limit)
  },

  /**
   * The events of the account from now on, or after the event `after`, without an end. A lost connection reconnects
   * and resumes after the last event.
   *
   * @throws {StewardError} for a permanent error, or the reason of the signal.
   */
  stream({ after, signal, ...query }: StreamEventsParams = {}): AsyncIterable<Event> {
    return follow<Event>(api, { path: '/v1/events', query, after }, signal)
  },
})
