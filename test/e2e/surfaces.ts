import type { Browser, Page } from 'playwright-core'
import type { ChainName } from '../../evm/registry.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { openEvents, type EventClient, type ReceivedEvent } from '../api/eventClient.js'
import { createPeople } from '../clients/dashboard/people.js'
import type { World } from './world.js'

/** An event, and when it came, ms of Unix time. */
export type Arrival = ReceivedEvent & { cameAt: number }

export type Listening = {
  /** In the order in which they came. */
  arrivals: Arrival[]
  /** Resolves with the first one for which this holds. */
  until(holds: (arrival: Arrival) => boolean): Promise<Arrival>
  close(): void
}

/** Follows a path of the API's as a program does, and notes when each event came. */
export async function listen({ stack }: World, path: string): Promise<Listening> {
  const { apiBaseUrl, apiKey } = stack.facts
  const client = await openEvents(apiBaseUrl + path, { key: apiKey })
  const arrivals: Arrival[] = []
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

async function note(client: EventClient, take: (arrival: Arrival) => void): Promise<void> {
  for (let count = 1; ; count++) {
    // Fails when the stream ends: nothing more comes.
    const told = await client.until(count).catch(() => undefined)
    const event = told?.[count - 1]
    if (!event) return
    take({ ...event, cameAt: Date.now() })
  }
}

export type IntentPage = {
  /** Resolves when the page shows such a text, with ms of Unix time. */
  until(text: RegExp): Promise<number>
  /** The resource that the page shows behind a line. */
  readJson(): Promise<Record<string, unknown>>
  /** True while it is the page that was opened: nobody has loaded it anew. */
  isSame(): Promise<boolean>
}

/** The page of an intent, before the eyes of an operator. */
export async function openIntentPage(
  browser: Browser,
  world: World,
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

/** How often a node is asked for its newest block: what is measured by it is no finer. */
const LOOK_MS = 20

/** When each block of some chains was there first, ms of Unix time. */
export function watchBlocks({ nodes }: World, chains: readonly ChainName[]) {
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
    /** Undefined for a block of before. */
    at: (chain: ChainName, block: number) => seen.get(chain)?.get(block),
    /** How many blocks of a chain have come after this one until a moment. */
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
