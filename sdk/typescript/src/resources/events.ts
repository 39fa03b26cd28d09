import { createList, type List, type Page, type PageParams } from '../http/pages.js'
import { follow } from '../http/stream.js'
import type { Api } from '../http/api.js'
import type { CallOptions } from '../http/send.js'
import type { Event, EventType } from './event.js'

export type EventParams = {
  /** Id of the last event that you have. */
  after?: string | undefined
  /** One, or any of several. */
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
      // A cursor says where to go on; the API takes one word for it.
      if (query.cursor !== undefined) delete query.after
      return api.get<Page<Event>>('/v1/events', query, options)
    }
    return createList(read, params.limit)
  },

  /**
   * What happens in the account from now on, or after the event that `after` names, without an end. Lost connections
   * are made again, and go on after the last event.
   *
   * @throws {StewardError} what will not pass, or the reason of the signal.
   */
  stream({ after, signal, ...query }: StreamEventsParams = {}): AsyncIterable<Event> {
    return follow<Event>(api, { path: '/v1/events', query, after }, signal)
  },
})
