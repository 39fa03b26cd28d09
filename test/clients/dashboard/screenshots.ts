import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { connect, type Db } from '../../../db/client/connect.js'
import {
  createClient,
  createHome,
  removeHome,
  startStack,
  until,
  type Stack,
} from '../../e2e/stack.js'
import { startReceiver } from '../../activities/webhooks/receiver.js'
import { openBrowser } from './browser.js'
import { createPeople, untilShown } from './people.js'
import type { Page } from 'playwright-core'

/**
 * Takes screenshots of every dashboard page, in both themes and two widths. Starts its own stack with intents in every
 * state. Usage: `npm run screenshots -- [folder]`; the default folder is `.steward/screenshots`.
 */

const EMAIL = 'ada@example.com'
const widths = [1280, 375]
const themes = ['light', 'dark'] as const
const HEIGHT = 820

type Seeds = Record<'walletId' | 'lent' | 'failed' | 'waiting' | 'webhook', string>

const FUNDINGS = 5

/** Creates a completed lend over a bridge, a lend with a simulated failure and a lend that waits for its attestation. */
async function seed({ facts }: Stack, receiverUrl: string): Promise<Seeds> {
  const call = createClient(facts)
  const order = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body as { id: string }
  }
  const { id: walletId } = await order('/wallets', { userId: 'ada' })
  for (let given = 0; given < FUNDINGS; given += 1) await order('/demo/fund', { walletId })
  const balances = () => call('GET', `/balances/${walletId}`)
  await until(balances, ({ body }) => JSON.stringify(body).includes(`"${FUNDINGS}"`))
  const lend = (amount: number, more: object = {}) =>
    order('/intents', { walletId, action: 'lend', amount, ...more })
  const untilStatus = (id: string, passes: RegExp) =>
    until(
      () => call('GET', `/intents/${id}`),
      ({ body }) => passes.test(String(body.status)),
    )
  const lent = await lend(2.5)
  await untilStatus(lent.id, /completed/)
  const here = { chain: 'arbitrum-sepolia', metadata: { simulate: 'DEPOSIT_FAILED' } }
  const failed = await lend(0.75, here)
  await untilStatus(failed.id, /failed/)
  const faults = { method: 'POST', body: JSON.stringify({ stuck: true }) }
  await fetch(`${facts.attestationUrl}/dev/faults`, faults)
  const waiting = await lend(1)
  await untilStatus(waiting.id, /executing/)
  const webhook = await order('/webhooks', { url: receiverUrl, description: 'Ledger service' })
  await order(`/webhooks/${webhook.id}/test`, {})
  const ids = { lent: lent.id, failed: failed.id, waiting: waiting.id }
  return { ...ids, walletId, webhook: webhook.id }
}

/** Names of the screenshots and their paths below `/dashboard`. */
const placesOf = ({
  walletId,
  lent,
  failed,
  waiting,
  webhook,
}: Seeds): [name: string, place: string][] => [
  ['overview', '/'],
  ['intents', '/intents'],
  ['intent-completed', `/intents/${lent}`],
  ['intent-failed', `/intents/${failed}`],
  ['intent-waiting', `/intents/${waiting}`],
  ['new-intent', `/intents/new?walletId=${walletId}&amount=1`],
  ['wallets', '/wallets'],
  ['wallet', `/wallets/${walletId}`],
  ['yields', '/yields'],
  ['keys', '/keys'],
  ['webhooks', '/webhooks'],
  ['webhook', `/webhooks/${webhook}`],
  ['usage', '/credits'],
  ['requests', '/requests'],
  ['settings', '/settings'],
  ['system', '/system'],
]

const HOURS = 7 * 24

/** Inserts a past week: rates of each market around the current one, and requests. */
async function seedPast(db: Db): Promise<void> {
  await db.raw(
    `insert into yield_snapshot (chain, protocol, asset, market, apy_percent, taken_at)
     select chain, protocol, asset, market, round((apy_percent * (1 + 0.12 * sin(h / (7.0 + n)) +
       0.05 * sin(h / 2.3 + n)))::numeric, 4), date_trunc('hour', now()) - h * interval '1 hour'
     from (select distinct on (chain, protocol, asset) *, row_number() over (order by chain, protocol) as n
           from yield_snapshot order by chain, protocol, asset, id desc) latest
       cross join generate_series(1, ?::int) h`,
    [HOURS],
  )
  const { id } = await db('account').orderBy('created_at').first<{ id: string }>('id')
  const [key] = await db('api_key').where({ account_id: id }).pluck<string[]>('id')
  const endpoints = {
    'GET /v1/balances/:walletId': 160,
    'GET /v1/yields': 90,
    'POST /v1/intents': 24,
  }
  for (const [endpoint, most] of Object.entries(endpoints)) {
    await db.raw(
      `insert into request_day (account_id, caller_id, endpoint, day, requests, errors, credits)
       select ?, ?, ?, current_date - d, requests, requests / 40, requests
       from generate_series(1, 29) d cross join lateral
         (select round(?::int * (0.65 + 0.35 * sin(d * 1.7)))::int as requests) x on conflict do nothing`,
      [id, key ?? '', endpoint, most],
    )
  }
}

/** Time for a preview and a chart to render after the page. */
const SETTLE_MS = 1_500

async function photograph(page: Page, name: string, folder: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: HEIGHT })
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}-${width}.png`) })
    }
  }
}

/** Milliseconds from the request of a page to its first contentful paint. */
async function paintedMs(page: Page): Promise<number> {
  const ms = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1`,
  )
  return Math.round(ms)
}

async function main(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const browser = await openBrowser()
  const home = await createHome()
  const stack = await startStack(home)
  const db = connect(stack.facts.databaseUrl, 2)
  const receiver = await startReceiver(() => ({ status: 200, text: 'stored' }))
  try {
    const seeds = await seed(stack, receiver.url)
    await seedPast(db)
    const people = createPeople(browser, { host: stack.facts.hostUrl, db })
    const visitor = { email: EMAIL, role: 'owner' as const, isOperator: true }
    const { page, faults } = await people.join(visitor)
    for (const [name, place] of placesOf(seeds)) {
      await page.setViewportSize({ width: 1280, height: HEIGHT })
      await page.goto(`${stack.facts.hostUrl}/dashboard${place}`)
      await untilShown(page)
      await page.waitForTimeout(SETTLE_MS)
      await photograph(page, name, folder)
      console.log(`${name}, first contentful paint after ${await paintedMs(page)} ms`)
    }
    for (const fault of faults) console.error(fault)
    process.exitCode = faults.length > 0 ? 1 : 0
  } finally {
    await browser.close()
    await db.destroy()
    await receiver.stop()
    await stack.stop()
    removeHome(home)
  }
}

await main(path.resolve(process.argv[2] ?? '.steward/screenshots'))
