import type { Browser, Page } from 'playwright-core'
import type { ChainName } from '../../evm/registry.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { openEvents, type EventClient, type ReceivedEvent } from '../api/eventClient.js'
import { createPeople } from '../clients/dashboard/people.js'
import type { E2eWorld } from './world.js'

/** An event, and when it came, ms of Unix time. */
export type EventArrival = ReceivedEvent & { cameAt: number }

export type Listening = {
  /** In order of arrival. */
  arrivals: EventArrival[]
  /** Resolves with the first arrival for which the predicate is true. */
  until(holds: (arrival: EventArrival) => boolean): Promise<EventArrival>
  close(): void
}

/** Follows an event stream of the API and records the arrival time of each event. */
export async function listen({ stack }: E2eWorld, path: string): Promise<Listening> {
  const { apiBaseUrl, apiKey } = stack.facts
  const client = await openEvents(apiBaseUrl + path, { key: apiKey })
  const arrivals: EventArrival[] = []
  const hearers = new Set<() => void>()
  void note(client, (arrival) => {
    arrivals.push(arrival)
    for (const hear of hearers) hear()
  })
  return {
    arrivals,
    until(holds) {
      return new Promise((resolve) => {
        const hear = () => {
          const found = arrivals.find(holds)
          if (!found) return
          hearers.delete(hear)
          resolve(found)
        }
        hearers.add(hear)
        hear()
      })
    },
    close: () => client.close(),
  }
}

async function note(client: EventClient, take: (arrival: EventArrival) => void): Promise<void> {
  for (let count = 1; ; count++) {
    // Rejects when the stream ends, because no further event can arrive.
    const finished = await client.until(count).catch(() => undefined)
    const event = finished?.[count - 1]
    if (!event) return
    take({ ...event, cameAt: Date.now() })
  }
}

export type IntentPage = {
  /** Resolves when the page shows the text, with ms of Unix time. */
  until(text: RegExp): Promise<number>
  /** The resource that the page shows for a line. */
  readJson(): Promise<Record<string, unknown>>
  /** True while the opened page was not reloaded. */
  isSame(): Promise<boolean>
}

/** The dashboard page of an intent, in a browser. */
export async function openIntentPage(
  browser: Browser,
  world: E2eWorld,
  id: string,
): Promise<IntentPage> {
  const people = createPeople(browser, { host: world.stack.facts.hostUrl, db: world.db })
  const { page } = await people.join({
    ...{ email: 'operator@example.com', role: 'owner', isOperator: true },
  })
  await page.goto(`${world.stack.facts.hostUrl}/dashboard/intents/${id}`)
  await page.getByText('Steps', { exact: true }).waitFor()
  await page.evaluate('window.isSamePage = true')
  return {
    until: (text) => untilShown(page, text),
    async readJson() {
      const text = await page.locator('details pre').textContent()
      return JSON.parse(text ?? '') as Record<string, unknown>
    },
    isSame: async () => (await page.evaluate('window.isSamePage')) === true,
  }
}

async function untilShown(page: Page, text: RegExp): Promise<number> {
  await page.getByText(text).first().waitFor()
  return Date.now()
}

/** Interval of polls for a node's newest block, which bounds the resolution. */
const LOOK_MS = 20

/** Records when each block of the given chains first appeared, ms of Unix time. */
export function watchBlocks({ nodes }: E2eWorld, chains: readonly ChainName[]) {
  const stopping = new AbortController()
  const seen = new Map<ChainName, Map<number, number>>(chains.map((name) => [name, new Map()]))
  const watching = [...seen].map(async ([name, blocks]) => {
    let last: number | undefined
    while (!stopping.signal.aborted) {
      const number = Number(await callRpc<string>(nodes[name].url, 'eth_blockNumber', []))
      const at = Date.now()
      for (let one = last === undefined ? number : last + 1; one <= number; one++) {
        blocks.set(one, at)
      }
      last = number
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  })
  return {
    /** Undefined for a block from before the start. */
    at: (chain: ChainName, block: number) => seen.get(chain)?.get(block),
    /** Number of blocks of a chain after this one until a time. */
    countAfter(chain: ChainName, block: number, moment: number): number {
      const blocks = [...(seen.get(chain) ?? [])]
      return blocks.filter(([number, at]) => number > block && at <= moment).length
    },
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(watching)
    },
  }
}
