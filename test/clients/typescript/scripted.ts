import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

export type SeenRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: unknown
}
/** `cut`: the connection ends without an answer. `silent`: nothing comes. A function writes the answer itself. */
export type ScriptedReply =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | 'cut'
  | 'silent'
  | ((response: ServerResponse) => void)

/**
 * Stands in for a service, or for what lies between, where the real one cannot be made to answer so.
 *
 * @param answer - Of each request; `count` from 1.
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

/** The body of an error, as the API answers it. */
export const errorOf = (error: string, details: object = {}) => ({
  ...{ error, message: 'In words.' },
  details: { ...details, docs: `/docs/errors#${error}`, requestId: 'req_test' },
})
