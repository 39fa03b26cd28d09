import { toAmount, type Amount } from '../amounts.js'
import { follow } from '../http/stream.js'
import { waitForIntent, type IntentWait } from './waiting.js'
import type { Api } from '../http/api.js'
import type { List, PageParams } from '../http/pages.js'
import type { CallOptions, WriteOptions } from '../http/send.js'
import type { Event } from './event.js'
import type * as intent from './intent.js'

type Intent = intent.Intent

export type ListIntentsParams = PageParams & {
  walletId?: string | undefined
  /** One, or any of several. */
  status?: intent.IntentStatus | readonly intent.IntentStatus[] | undefined
  action?: intent.Action | undefined
  createdAfter?: Date | string | undefined
  createdBefore?: Date | string | undefined
}

/** `wait`: answer at the next change, or after so many seconds, at most 60. */
export type GetIntentParams = { wait?: number | undefined }

export type IntentEventsParams = { after?: string | undefined; signal?: AbortSignal | undefined }

/** Opens one intent to read, for some minutes. */
export type ReadToken = { token: string; intentId: string; expiresAt: string }

const pathOf = (id: string) => `/v1/intents/${encodeURIComponent(id)}`

export function createIntents(api: Api) {
  const { get, post, ponder, list } = api
  // Async: what cannot be sent rejects, as whatever else goes wrong.
  const submit = async (body: Body, options?: WriteOptions) =>
    post<Intent>('/v1/intents', toBody(body), options)
  return {
    /** Lends where it pays most, unless `chain` is named. @throws {InsufficientFundsError} */
    lend: (params: intent.LendParams, options?: WriteOptions): Promise<Intent> =>
      submit({ ...params, action: 'lend' }, options),

    /** Takes back what was lent on `chain`. @throws {InsufficientFundsError} */
    withdraw: (params: intent.WithdrawParams, options?: WriteOptions): Promise<Intent> =>
      submit({ ...params, action: 'withdraw' }, options),

    /** Moves money from one chain to another. @throws {InsufficientFundsError} */
    bridge: (params: intent.BridgeParams, options?: WriteOptions): Promise<Intent> =>
      submit({ ...params, action: 'bridge' }, options),

    /** What an intent would do now. Nothing is stored, and it costs no credits. */
    preview: async (params: intent.PreviewParams, options?: CallOptions): Promise<intent.DryRun> =>
      ponder('/v1/intents?dryRun=true', toBody(params), options),

    /** @throws {IntentNotFoundError} */
    get: (id: string, { wait }: GetIntentParams = {}, options?: CallOptions): Promise<Intent> =>
      get(pathOf(id), { wait }, options),

    /** Newest first. */
    list: (params: ListIntentsParams = {}, options?: CallOptions): List<Intent> =>
      list('/v1/intents', params, options),

    /** @throws {InvalidRequestError} `already_signed` or `already_over` */
    cancel: (id: string, options?: WriteOptions): Promise<Intent> =>
      post(`${pathOf(id)}/cancel`, {}, options),

    /** A new intent that does what is left to do of a failed one. */
    retry: (id: string, options?: WriteOptions): Promise<Intent> =>
      post(`${pathOf(id)}/retry`, {}, options),

    /** For a browser, which must not have a key. */
    createReadToken: (id: string, options?: WriteOptions): Promise<ReadToken> =>
      post(`${pathOf(id)}/read-token`, {}, options),

    /**
     * Its story from the beginning, or after the event that `after` names, until nothing more is to come: of money
     * that failed with BRIDGE_TIMEOUT until it has come out.
     */
    events(id: string, { after, signal }: IntentEventsParams = {}): AsyncIterable<Event> {
      return follow<Event>(api, { path: `${pathOf(id)}/events`, query: {}, after }, signal)
    },

    /**
     * The intent once it is completed. Any process may wait, also one that did not create it.
     *
     * @throws {IntentFailedError} with the failed intent; {TimeoutError} when it still runs after `timeoutMs`.
     */
    waitForCompletion: (id: string, wait: IntentWait = {}): Promise<Intent> =>
      waitForIntent(api, id, wait),
  }
}

type Body = { action: string; amount: Amount }
const toBody = (body: Body) => ({ ...body, amount: toAmount(body.amount) })
