import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message as the service returns it for a burn. */
export type ForwardedMessage = { message: string; attestation: string; eventNonce: string }
type ChangeMessages = (messages: ForwardedMessage[]) => ForwardedMessage[]

/** The attestation service behind a proxy that can change its answers about burns. */
export async function startFront(target: string) {
  let change: ChangeMessages | undefined
  const requests: string[] = []

  async function handle({ method, url = '/' }: IncomingMessage, response: ServerResponse) {
    requests.push(`${method} ${url}`)
    const answer = await fetch(target + url, { method: method ?? 'GET' })
    const body = (await answer.json()) as { messages?: ForwardedMessage[] }
    const changed = change && body.messages ? { messages: change(body.messages) } : body
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(changed))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Method and path of all requests. */
    requests,
    set: (next: ChangeMessages | undefined) => (change = next),
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
