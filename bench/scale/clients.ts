import { setTimeout as sleep } from 'node:timers/promises'
import type { StackFacts } from '../../test/e2e/stack.js'

type BenchResponse = { status: number; body: Record<string, unknown> }
export type PostRequest = (path: string, body: object, key: string) => Promise<BenchResponse>

const ANSWER_MS = 20_000
const PAUSE_MS = 100

/**
 * Posts like a client behind a load balancer: round robin over the API processes. A failed request is retried at the
 * next process with the same key.
 */
export function createBalancedClient({ apiBaseUrls, apiKey }: StackFacts): PostRequest {
  let turn = 0
  return async (path, body, key) => {
    for (;;) {
      const url = apiBaseUrls[(turn += 1) % apiBaseUrls.length] ?? ''
      const answer = await send(url + path, body, { key, apiKey }).catch(() => undefined)
      if (answer && answer.status < 500 && answer.status !== 429) return answer
      await sleep(PAUSE_MS)
    }
  }
}

async function send(
  url: string,
  body: object,
  { key, apiKey }: { key: string; apiKey: string },
): Promise<BenchResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    signal: AbortSignal.timeout(ANSWER_MS),
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as BenchResponse['body'] }
}

/** Processes items in order, the given number at a time. */
export async function inTurns<T>(
  list: T[],
  atATime: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = list.values()
  const sender = async () => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: atATime }, sender))
}
