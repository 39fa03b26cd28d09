import { setTimeout as sleep } from 'node:timers/promises'
import type { Facts } from '../../test/e2e/stack.js'

type Answer = { status: number; body: Record<string, unknown> }
export type Call = (path: string, body: object, key: string) => Promise<Answer>

const ANSWER_MS = 20_000
const PAUSE_MS = 100

/**
 * Posts as a client behind a load balancer does: to one process of the API after the other, and what fails on the
 * way to the next one, under the same key.
 */
export function createBalancedClient({ apiBaseUrls, apiKey }: Facts): Call {
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
): Promise<Answer> {
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
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

/** Does what is to be done with so many at a time, in their order. */
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
