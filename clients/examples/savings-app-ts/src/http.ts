import { createServer, type IncomingMessage, type Server } from 'node:http'
import { StewardError } from '@steward/sdk'
import { Refusal } from './refusal.js'
import type { Savings, OrderRequest } from './savings.js'

/** `body` is the raw text, because the signature covers its bytes. */
type Received = { body: string; headers: Record<string, string>; ids: string[] }
type AppResponse = { status: number; body: unknown }
type AppRoute = [method: string, path: RegExp, answer: (received: Received) => Promise<AppResponse>]

const LARGEST_BODY = 1_000_000

/** @param receive - Processes a webhook. When it throws, Steward delivers the webhook again. */
export function createApp(
  savings: Savings,
  receive: (body: string, headers: Record<string, string>) => Promise<void>,
): Server {
  const routes: AppRoute[] = [
    [
      'POST',
      /^\/savers$/,
      async ({ body }) => {
        const { userId } = parse(body)
        return { status: 201, body: await savings.signUp(toText(userId, 'userId')) }
      },
    ],
    [
      'GET',
      /^\/savers\/([^/]+)$/,
      async ({ ids: [userId = ''] }) => ({ status: 200, body: await savings.readAccount(userId) }),
    ],
    [
      'POST',
      /^\/savers\/([^/]+)\/orders$/,
      async ({ body, ids: [userId = ''] }) => {
        return { status: 202, body: await savings.order(userId, toOrderRequest(parse(body))) }
      },
    ],
    [
      'GET',
      /^\/orders\/([^/]+)$/,
      ({ ids: [id = ''] }) => Promise.resolve({ status: 200, body: savings.getOrder(id) }),
    ],
    [
      'POST',
      /^\/webhooks\/steward$/,
      async ({ body, headers }) => {
        await receive(body, headers)
        return { status: 200, body: {} }
      },
    ],
  ]

  return createServer((request, response) => {
    void answer(routes, request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify(body)}\n`)
    })
  })
}

async function answer(routes: AppRoute[], request: IncomingMessage): Promise<AppResponse> {
  const { method, url = '/' } = request
  try {
    for (const [ofMethod, path, run] of routes) {
      const match = path.exec(url)
      if (!match || method !== ofMethod) continue
      const ids = match.slice(1).map(decodeURIComponent)
      const headers = request.headers as Record<string, string>
      return await run({ body: await readBody(request), headers, ids })
    }
    throw new Refusal(404, `${method} ${url} does not exist.`)
  } catch (error) {
    return toAppResponse(error)
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY) throw new Refusal(413, 'The body is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Malformed JSON has the same error as JSON that is not an object.
  }
  throw new Refusal(400, 'Send a JSON object.')
}

function toText(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new Refusal(400, `${name} must be a non-empty string.`)
}

function toOrderRequest({ orderId, kind, amount }: Record<string, unknown>): OrderRequest {
  if (kind !== 'save' && kind !== 'withdraw') {
    throw new Refusal(400, 'kind must be `save` or `withdraw`.')
  }
  return { id: toText(orderId, 'orderId'), kind, amount: toText(amount, 'amount') }
}

/** The response hides internal errors. The log contains them with Steward's request id. */
function toAppResponse(error: unknown): AppResponse {
  if (error instanceof Refusal) return { status: error.status, body: { message: error.message } }
  console.error(error instanceof StewardError ? `${error.code} ${error.requestId}` : '', error)
  return { status: 503, body: { message: 'Please try again.' } }
}
