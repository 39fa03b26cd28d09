import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'

/** An event as it came over the wire. */
export type ReceivedEvent = { id: string; event: string; data: Record<string, unknown> }

export type EventClient = {
  status: number
  headers: IncomingMessage['headers']
  /** In the order in which they came. */
  events: ReceivedEvent[]
  /** Lines that are comments. */
  comments: number
  /** As an EventSource keeps it. */
  lastEventId: string
  /** Resolves when so many events have come; fails when the stream ends before. */
  until(count: number): Promise<ReceivedEvent[]>
  /** Resolves when the stream is over, however it ended. */
  ended: Promise<void>
  /** Stops reading, and goes on. */
  pause(): void
  resume(): void
  close(): void
}

type EventClientOptions = { key?: string; headers?: Record<string, string> }

/** Opens a stream of server-sent events as a browser does. */
export async function openEvents(url: string, { key, headers }: EventClientOptions = {}) {
  const request = get(url, {
    headers: {
      accept: 'text/event-stream',
      ...(key && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    // One connection for each, which no other waits for.
    agent: false,
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return toClient(response, () => request.destroy())
}

function toClient(response: IncomingMessage, close: () => void): EventClient {
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const one of waiting) one()
  }
  let isOver = false
  const client: EventClient = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events: [],
    comments: 0,
    lastEventId: '',
    ended: new Promise((resolve) => {
      response.on('close', () => {
        isOver = true
        resolve()
        wake()
      })
    }),
    async until(count) {
      while (client.events.length < count) {
        if (isOver) throw new Error(`The stream ended after ${client.events.length} events.`)
        await new Promise<void>((resolve) => {
          const one = () => {
            waiting.delete(one)
            resolve()
          }
          waiting.add(one)
        })
      }
      return client.events
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close,
  }
  let text = ''
  response.setEncoding('utf8')
  response.on('error', () => undefined)
  response.on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) takeBlock(client, block)
    wake()
  })
  return client
}

/** @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
function takeBlock(client: EventClient, block: string): void {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    if (line.startsWith(':')) client.comments += 1
    const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) fields.set(name, value)
  }
  const id = fields.get('id')
  if (id !== undefined) client.lastEventId = id
  const data = fields.get('data')
  if (data === undefined) return
  const parsed = JSON.parse(data) as ReceivedEvent['data']
  client.events.push({ id: client.lastEventId, event: fields.get('event') ?? '', data: parsed })
}
