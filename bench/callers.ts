import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { StackFacts } from '../test/e2e/stack.js'

/** `sentAt`: Unix time, ms. */
export type Answered = {
  status: number
  body: Record<string, unknown>
  sentAt: number
  tookMs: number
}

/**
 * Clients of the API with the demo account's key. Each keeps its connection and sends one request at a time. Every
 * POST has an `Idempotency-Key`, as in our SDKs.
 *
 * @returns `post`, `postEach`, and `hangUp`, which closes the connections. The next POST opens a new one.
 */
export function createCallers({ hostUrl, apiKey }: StackFacts, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const post = (path: string, body: unknown) =>
    new Promise<Answered>((resolve, reject) => {
      const [sentAt, begun] = [Date.now(), performance.now()]
      const named = { ...headers, 'idempotency-key': randomUUID() }
      const sent = request(`${hostUrl}/v1${path}`, { method: 'POST', agent, headers: named })
      sent.on('error', reject)
      sent.on('response', (response) => {
        text(response)
          .then((responseText) => {
            const tookMs = performance.now() - begun
            const status = response.statusCode ?? 0
            resolve({ status, body: JSON.parse(responseText) as Answered['body'], sentAt, tookMs })
          })
          .catch(reject)
      })
      sent.end(JSON.stringify(body))
    })
  return {
    post,
    /** The 201 responses to one POST per item, as many at once as there are connections. */
    postEach: async <T>(items: T[], path: string, bodyOf: (item: T) => unknown) =>
      inTurns(items, connections, async (item) => {
        const answer = await post(path, bodyOf(item))
        if (answer.status === 201) return answer
        throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      }),
    hangUp: () => agent.destroy(),
  }
}

/** Runs the work of each item, `width` at a time. Keeps the order of the results. */
export async function inTurns<T, R>(
  items: T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const take = async () => {
    while (next < items.length) {
      const i = next++
      results[i] = await work(items[i] as T)
    }
  }
  await Promise.all(Array.from({ length: width }, take))
  return results
}

/** The value below which the given share of the values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN
}
