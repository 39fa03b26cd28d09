import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'

export type ReceivedDelivery = { headers: IncomingHttpHeaders; text: string; body: EventBody }
type EventBody = { id: string; type: string; timestamp: string; data: Record<string, unknown> }
type EndpointReply = {
  status: number
  text?: string
  headers?: Record<string, string>
  afterMs?: number
}

export type Receiver = {
  url: string
  port: number
  received: ReceivedDelivery[]
  /** Number of connections so far. */
  connections(): number
  /** Highest number of concurrent requests. */
  mostOpen(): number
  /** Resolves when this number of requests has been received. */
  until(count: number): Promise<ReceivedDelivery[]>
  stop(): Promise<void>
}

/** An endpoint of a customer on a free port. @param answer - Returns the response by the number of the request, from 1. */
export async function startReceiver(
  answer: (count: number, received: ReceivedDelivery) => EndpointReply = () => ({ status: 204 }),
): Promise<Receiver> {
  const received: ReceivedDelivery[] = []
  let connections = 0
  let open = 0
  let mostOpen = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    mostOpen = Math.max(mostOpen, ++open)
    response.once('close', () => open--)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const one = { headers: request.headers, text, body: JSON.parse(text) as EventBody }
      received.push(one)
      const { status, text: reply = '', headers = {}, afterMs = 0 } = answer(received.length, one)
      setTimeout(() => response.writeHead(status, headers).end(reply), afterMs).unref()
    })
  })
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...{ url: `http://127.0.0.1:${port}/hook`, port, received },
    connections: () => connections,
    mostOpen: () => mostOpen,
    async until(count) {
      while (received.length < count) await sleep(20)
      return received
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
