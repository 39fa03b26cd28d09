import { Agent, request } from 'node:http'
import type { Filled } from './fill.js'

/** A call of an endpoint. `n` counts the calls, so that each one uses another row. */
export type EndpointCall = {
  name: string
  method: 'GET' | 'POST'
  path(filled: Filled, n: number): string
  body?(filled: Filled, n: number): unknown
  headers?(filled: Filled, n: number): Record<string, string>
}

const at = <T>(list: readonly T[], n: number): T => {
  const one = list[n % list.length]
  if (one === undefined) throw new Error('The sample is empty.')
  return one
}

const byKey = (name: string, path: EndpointCall['path'] | string): EndpointCall => ({
  name,
  method: 'GET',
  path: typeof path === 'string' ? () => path : path,
})

const bySession = (name: string, path: EndpointCall['path'] | string): EndpointCall => ({
  ...byKey(name, path),
  headers: ({ sessions }, n) => ({ cookie: `steward_session=${at(sessions, n)}` }),
})

const reads: EndpointCall[] = [
  byKey('GET wallets/:userId', ({ wallets }, n) => `/v1/wallets/${at(wallets, n).userId}`),
  byKey('GET wallets', '/v1/wallets'),
  byKey('GET wallets?userId', ({ wallets }, n) => `/v1/wallets?userId=${at(wallets, n).userId}`),
  byKey('GET intents/:id', ({ intents }, n) => `/v1/intents/${at(intents, n)}`),
  byKey('GET intents', '/v1/intents'),
  byKey('GET intents?status=failed', '/v1/intents?status=failed'),
  byKey(
    'GET intents?status=pending,planning,executing',
    '/v1/intents?status=pending,planning,executing',
  ),
  byKey('GET intents?action=bridge', '/v1/intents?action=bridge'),
  byKey('GET intents?walletId', ({ wallets }, n) => `/v1/intents?walletId=${at(wallets, n).id}`),
  byKey('GET intents?cursor', ({ intents }, n) => `/v1/intents?cursor=${at(intents, n)}`),
  byKey('GET intents/:id/events', ({ intents }, n) => `/v1/intents/${at(intents, n)}/events`),
  byKey('GET events', '/v1/events'),
  byKey('GET events?after', ({ events }, n) => `/v1/events?after=${at(events, n)}`),
  byKey('GET events?type=delayed', '/v1/events?type=intent.delayed'),
  byKey('GET events?type=delayed,recovered', '/v1/events?type=intent.delayed,intent.recovered'),
  byKey('GET events?walletId', ({ wallets }, n) => `/v1/events?walletId=${at(wallets, n).id}`),
  byKey('GET positions/:walletId', ({ wallets }, n) => `/v1/positions/${at(wallets, n).id}`),
  byKey('GET demo/fund/:id', ({ fundings }, n) => `/v1/demo/fund/${at(fundings, n)}`),
  byKey('GET webhooks', '/v1/webhooks'),
  byKey('GET deliveries', ({ webhook }) => `/v1/webhooks/${webhook}/deliveries`),
  byKey(
    'GET deliveries?status=failed',
    ({ webhook }) => `/v1/webhooks/${webhook}/deliveries?status=failed`,
  ),
  byKey('GET credits', '/dashboard/credits'),
]

const pages: EndpointCall[] = [
  bySession('dash overview', '/dashboard/api/overview'),
  bySession('dash requests', '/dashboard/api/requests'),
  // A path that no earlier call has used. Otherwise the requests of this run would match.
  bySession('dash requests?path', '/dashboard/api/requests?path=/v1/intents/:intentId/retry'),
  bySession('dash requests?keyId', '/dashboard/api/requests?keyId=key_other'),
  bySession('dash requests?code', '/dashboard/api/requests?code=INVALID_REQUEST'),
  bySession(
    'dash requests?requestId',
    ({ requests }, n) => `/dashboard/api/requests?requestId=${at(requests, n)}`,
  ),
  bySession(
    'dash requests?resourceId',
    ({ intents }, n) => `/dashboard/api/requests?resourceId=${at(intents, n)}`,
  ),
  bySession('dash search intent', ({ intents }, n) => `/dashboard/api/search?q=${at(intents, n)}`),
  bySession('dash search hash', ({ hashes }, n) => `/dashboard/api/search?q=${at(hashes, n)}`),
  bySession('dash usage days', '/dashboard/api/usage/days'),
  bySession('dash ledger', '/dashboard/api/usage/ledger'),
]

/** Names that are unique to one run. */
const run = Date.now()
const post = (
  name: string,
  path: EndpointCall['path'] | string,
  body: EndpointCall['body'],
): EndpointCall => ({
  ...byKey(name, path),
  method: 'POST',
  ...(body && { body }),
})
const lend: EndpointCall['body'] = ({ wallets }, n) => ({
  ...{ walletId: at(wallets, n).id, action: 'lend', amount: 1 },
})

const writes: EndpointCall[] = [
  post('POST wallets', '/v1/wallets', (_, n) => ({ userId: `new-${run}-${n}` })),
  post('POST wallets, there already', '/v1/wallets', ({ wallets }, n) => ({
    userId: at(wallets, n).userId,
  })),
  post('POST intents', '/v1/intents', lend),
  {
    ...post('POST intents, named', '/v1/intents', lend),
    headers: (_, n) => ({ 'idempotency-key': `${run}-${n}` }),
  },
  post(
    'POST read-token',
    ({ intents }, n) => `/v1/intents/${at(intents, n)}/read-token`,
    undefined,
  ),
  post('POST cancel, over', ({ intents }, n) => `/v1/intents/${at(intents, n)}/cancel`, undefined),
  post('POST retry', ({ failed }, n) => `/v1/intents/${at(failed, n)}/retry`, undefined),
]

export const calls: readonly EndpointCall[] = [...reads, ...pages, ...writes]

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Calls and reads the whole response. */
export async function send(
  port: number,
  { method, path, body, headers }: EndpointCall,
  { filled, n }: { filled: Filled; n: number },
): Promise<{ ms: number; status: number; text: string }> {
  const text = body && JSON.stringify(body(filled, n))
  const options = {
    ...{ port, host: '127.0.0.1', agent, method, path: path(filled, n) },
    headers: {
      authorization: `Bearer ${filled.key}`,
      ...headers?.(filled, n),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      }),
    },
  }
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const asking = request(options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const ms = performance.now() - started
        resolve({ ms, status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() })
      })
    })
    asking.on('error', reject)
    asking.end(text)
  })
}
