import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { newId } from '../db/client/ids.js'
import { invalidRequest } from '../domain/errors.js'
import { networkAddress } from './http/auth/browser.js'
import { rateLimitHeaders } from './http/rateLimit.js'
import { createApp } from './app.js'
import { errorBody } from './http/errors.js'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Services } from './http/services.js'
import type { Streams } from './http/streaming/stream.js'

/** Requests are at most 16 kB, so slow clients are disconnected. Milliseconds. */
const timeouts = {
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  // Longer than clients and proxies keep theirs (60 s is common). If the server closes first, a request that is
  // already on its way is lost.
  keepAliveTimeout: 65_000,
}
/** How often idle connections are closed while the server drains. */
const DRAIN_MS = 50

/** The API as an HTTP server that does not listen yet. */
export function createApiServer(services: Services): Server {
  const server = createServer(timeouts, createApp(services))
  return server.on('clientError', answerUnreadable(services))
}

/** Stops accepting requests, ends the streams, and resolves when all open requests have their response. */
export async function drain(server: Server, streams: Pick<Streams, 'close'>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  streams.close()
  const timer = setInterval(() => {
    server.closeIdleConnections()
  }, DRAIN_MS)
  await closed.finally(() => {
    clearInterval(timer)
  })
}

const unreadable = invalidRequest('', 'The request is not readable HTTP/1.1.')

/** Unparsable or too slow requests never reach the app. They get the documented error body here. */
function answerUnreadable({ authFailures }: Services) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const requestId = newId('req_')
    const body = JSON.stringify(errorBody(unreadable, requestId))
    const { remoteAddress = '' } = socket as Socket
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': requestId,
      ...rateLimitHeaders(authFailures.count(networkAddress(remoteAddress))),
      Connection: 'close',
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    socket.end(`${['HTTP/1.1 400 Bad Request', ...lines].join('\r\n')}\r\n\r\n${body}`)
  }
}
