import { createTransport, type CallOptions, type Query, type WriteOptions } from './send.js'
import { createList, type List, type Page } from './pages.js'
import type { ParsedResponse } from './answers.js'
import { READ_TOKEN, type Settings } from '../settings.js'

type ListQuery = Query & { limit?: number | undefined }

/** The calls that the resources use. */
export type Api = ReturnType<typeof createApi>

export function createApi(settings: Settings) {
  const { send, open } = createTransport(settings)

  async function get<Body>(path: string, query?: Query, options?: CallOptions): Promise<Body> {
    return (await ask<Body>(path, query, options)).body
  }

  /** Reads a resource with the headers of the response. */
  function ask<Body>(
    path: string,
    query?: Query,
    options?: CallOptions,
  ): Promise<ParsedResponse<Body>> {
    return send<Body>({ method: 'GET', path, query, options })
  }

  /** All attempts of a call share one idempotency key, so the call is executed once. */
  async function post<Body>(path: string, body: unknown, options?: WriteOptions): Promise<Body> {
    const { idempotencyKey = crypto.randomUUID() } = options ?? {}
    const text = JSON.stringify(body)
    return (await send<Body>({ method: 'POST', path, text, options, idempotencyKey })).body
  }

  /** A POST that changes nothing, without an idempotency key. */
  async function postWithoutKey<Body>(
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<Body> {
    const text = JSON.stringify(body)
    return (await send<Body>({ method: 'POST', path, text, options })).body
  }

  function list<Item>(path: string, query: ListQuery, options?: CallOptions): List<Item> {
    const read = (part: Query) => get<Page<Item>>(path, { ...query, ...part }, options)
    return createList<Item>(read, query.limit)
  }

  const { idleMs, apiKey } = settings
  const isReadToken = apiKey.startsWith(READ_TOKEN)
  return { get, ask, post, postWithoutKey, list, open, idleMs, isReadToken }
}
