import { toAmount } from '../amounts.js'
import { follow } from '../http/stream.js'
import { waitForIntent, type IntentWait } from './waiting.js'
import type { Api } from '../http/api.js'
import type { List, PageParams } from '../http/pages.js'
import type { CallOptions, WriteOptions } from '../http/send.js'
import type { Event } from './event.js'
import type {
  Action,
  BridgeParams,
  CreateIntentParams,
  DryRun,
  Intent,
  IntentFailureCode,
  IntentStatus,
  LendParams,
  WithdrawParams,
} from './intent.js'

export type ListIntentsParams = PageParams & {
  walletId?: string | undefined
  /** The user of the wallet, by your own identifier. */
  userId?: string | undefined
  /** Only failed intents with this `error.code`. */
  errorCode?: IntentFailureCode | undefined
  /** One status or several. */
  status?: IntentStatus | readonly IntentStatus[] | undefined
  action?: Action | undefined
  createdAfter?: Date | string | undefined
  createdBefore?: Date | string | undefined
}

/** `wait`: the API responds at the next change, or after this many seconds, at most 60. */
export type GetIntentParams = { wait?: number | undefined }

export type IntentEventsParams = { after?: string | undefined; signal?: AbortSignal | undefined }

/** A token that may read one intent for some minutes. */
export type ReadToken = { token: string; intentId: string; expiresAt: string }

const pathOf = (id: string) => `/v1/intents/${encodeURIComponent(id)}`

export function createIntents(api: Api) {
  const { get, post, postWithoutKey, list } = api
  // Async, so that an invalid amount rejects like every other error.
  const create = async (params: CreateIntentParams, options?: WriteOptions) =>
    post<Intent>('/v1/intents', toBody(params), options)
  return {
    /** Creates an intent of any action. @throws {InsufficientFundsError} */
    create,

    /** Lends at the best rate, or on `chain`. @throws {InsufficientFundsError} */
    lend: (params: LendParams, options?: WriteOptions): Promise<Intent> =>
      create({ ...params, action: 'lend' }, options),

    /** Withdraws lent money on `chain`. @throws {InsufficientFundsError} */
    withdraw: (params: WithdrawParams, options?: WriteOptions): Promise<Intent> =>
      create({ ...params, action: 'withdraw' }, options),

    /** Moves money from one chain to another. @throws {InsufficientFundsError} */
    bridge: (params: BridgeParams, options?: WriteOptions): Promise<Intent> =>
      create({ ...params, action: 'bridge' }, options),

    /** The plan of an intent. Nothing is stored or charged. */
    preview: async (params: CreateIntentParams, options?: CallOptions): Promise<DryRun> =>
      postWithoutKey('/v1/intents?dryRun=true', toBody(params), options),

    /** @throws {IntentNotFoundError} */
    get: (id: string, { wait }: GetIntentParams = {}, options?: CallOptions): Promise<Intent> =>
      get(pathOf(id), { wait }, options),

    /** Newest first. */
    list: (params: ListIntentsParams = {}, options?: CallOptions): List<Intent> =>
      list('/v1/intents', params, options),

    /** @throws {InvalidRequestError} `already_signed` or `already_over` */
    cancel: (id: string, options?: WriteOptions): Promise<Intent> =>
      post(`${pathOf(id)}/cancel`, {}, options),

    /** Creates an intent that finishes a failed one. */
    retry: (id: string, options?: WriteOptions): Promise<Intent> =>
      post(`${pathOf(id)}/retry`, {}, options),

    /** The plan of a retry, or the existing retry of the intent. Nothing is stored or charged. */
    previewRetry: (id: string, options?: CallOptions): Promise<DryRun | Intent> =>
      postWithoutKey(`${pathOf(id)}/retry?dryRun=true`, {}, options),

    /** Creates a read token for a browser, which must not have an API key. */
    createReadToken: (id: string, options?: WriteOptions): Promise<ReadToken> =>
      post(`${pathOf(id)}/read-token`, {}, options),

    /**
     * The events of an intent from the first one, or after the event `after`. The stream ends when no more events
     * follow; after BRIDGE_TIMEOUT it ends when the money has arrived.
     */
    events(id: string, { after, signal }: IntentEventsParams = {}): AsyncIterable<Event> {
      return follow<Event>(api, { path: `${pathOf(id)}/events`, query: {}, after }, signal)
    },

    /**
     * Waits for an intent and returns it once completed. Any process may wait, not only the creator.
     *
     * @throws {IntentFailedError} with the failed intent; {TimeoutError} when it still runs after `timeoutMs`.
     */
    waitForCompletion: (id: string, wait: IntentWait = {}): Promise<Intent> =>
      waitForIntent(api, id, wait),
  }
}

const toBody = (params: CreateIntentParams) => ({
  ...params,
  amount: toAmount(params.amount),
})
