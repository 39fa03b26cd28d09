import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

export type SeenRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: unknown
}
/** `cut` closes the connection without a response. `silent` sends no response. A function writes the response itself. */
export type ScriptedReply =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | 'cut'
  | 'silent'
  | ((response: ServerResponse) => void)

/**
 * Starts a server with scripted responses, for failures that the real service cannot produce.
 *
 * @param answer - Returns the response to each request. `count` starts at 1.
 */
export async function startScripted(answer: (seen: SeenRequest, count: number) => ScriptedReply) {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      const one = { method, path: url, headers, body: body ? (JSON.parse(body) as unknown) : null }
      seen.push(one)
      const reply = answer(one, seen.length)
      if (reply === 'silent') return
      if (reply === 'cut') return void request.socket.destroy()
      if (typeof reply === 'function') return reply(response)
      const { status = 200, body: json = {}, headers: more = {} } = reply
      response.writeHead(status, { 'content-type': 'application/json', ...more })
      response.end(typeof json === 'string' ? json : JSON.stringify(json))
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
export type Scripted = Awaited<ReturnType<typeof startScripted>>

/** The body of an error of the API. */
export const errorOf = (error: string, details: object = {}) => ({
  ...{ error, message: 'In words.' },
  details: { ...details, docs: `/docs/errors#${error}`, requestId: 'req_test' },
})
