import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type LoadRun = {
  port: number
  /** Raw requests, which the connections send in turn, or a function that creates the next one. */
  requests: readonly Buffer[] | ((turn: number) => Buffer)
  connections: number
  seconds: number
}

export type LoadResult = { count: number; perSecond: number; p50Ms: number; p99Ms: number }

/**
 * Keeps one request in flight on each connection for the given time. It parses just enough HTTP to find the end of a
 * response: on a small machine a full client would use more CPU than the server.
 *
 * @throws {Error} when a response is neither 200 nor 201, or a connection closes.
 */
export async function runLoad({ port, requests, connections, seconds }: LoadRun) {
  const latencies: number[] = []
  const started = performance.now()
  const until = started + seconds * 1_000
  let turn = 0
  const nextRequest = () => {
    turn += 1
    if (typeof requests === 'function') return requests(turn)
    return requests[turn % requests.length] ?? ''
  }
  const sender = async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const read = createReader(socket)
    await once(socket, 'connect')
    try {
      for (let now = performance.now(); now < until;) {
        socket.write(nextRequest())
        await read()
        const answered = performance.now()
        latencies.push(answered - now)
        now = answered
      }
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: connections }, sender))
  return toResult(latencies, (performance.now() - started) / 1_000)
}

function toResult(latencies: number[], seconds: number): LoadResult {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN
  const count = sorted.length
  return { count, perSecond: count / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** Resolves when the next response is complete. Responses have a length, and one is awaited at a time. */
function createReader(socket: Socket): () => Promise<void> {
  let received = ''
  let settle: ((error?: Error) => void) | undefined
  const end = (error?: Error) => {
    const resolve = settle
    settle = undefined
    resolve?.(error)
  }
  // latin1 has one character per byte.
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    received += text
    if (!isWhole(received)) return
    const answer = received
    received = ''
    end(/^HTTP\/1.1 20[01] /.test(answer) ? undefined : new Error(answer))
  })
  socket.on('error', end)
  socket.on('close', () => {
    end(new Error('The server closed a connection.'))
  })
  return () =>
    new Promise((resolve, reject) => {
      settle = (error) => {
        if (error) reject(error)
        else resolve()
      }
    })
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  return text.length >= headEnd + 4 + Number(length)
}
