import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { connect } from '../../db/connection/connect.js'
import {
  createClient,
  createHome,
  removeHome,
  startStack,
  until,
  type Stack,
} from '../e2e/stack.js'
import { openBrowser } from './browser.js'
import { createPeople, untilShown } from './people.js'
import type { Page } from 'playwright-core'

/**
 * Photographs every page of the dashboard, of a stack of its own with money in every state, light and dark,
 * wide and narrow. Usage: `npm run screenshots -- [folder]`; without a folder into `.steward/screenshots`.
 */

const EMAIL = 'ada@example.com'
const widths = [1280, 375]
const themes = ['light', 'dark'] as const
const HEIGHT = 820

type Seeds = Record<'walletId' | 'lent' | 'failed' | 'waiting', string>

const FUNDINGS = 5

/** Real calls: a lend over a bridge that ends, one whose failure is asked for, one that waits to be attested. */
async function seed({ facts }: Stack): Promise<Seeds> {
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
  return { walletId, lent: lent.id, failed: failed.id, waiting: waiting.id }
}

/** Names of pictures, and the addresses below `/dashboard` that they are of. */
const placesOf = ({ walletId, lent, failed, waiting }: Seeds): [name: string, place: string][] => [
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
  ['credits', '/credits'],
  ['settings', '/settings'],
  ['system', '/system'],
]

/** What a dry run and a chart need after the page itself is there. */
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

async function main(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const browser = await openBrowser()
  const home = await createHome()
  const stack = await startStack(home)
  const db = connect(stack.facts.databaseUrl, 2)
  try {
    const seeds = await seed(stack)
    const people = createPeople(browser, { host: stack.facts.hostUrl, db })
    const { page } = await people.join({ email: EMAIL, role: 'owner', isOperator: true })
    for (const [name, place] of placesOf(seeds)) {
      await page.setViewportSize({ width: 1280, height: HEIGHT })
      await page.goto(`${stack.facts.hostUrl}/dashboard${place}`)
      await untilShown(page)
      await page.waitForTimeout(SETTLE_MS)
      await photograph(page, name, folder)
      console.log(name)
    }
  } finally {
    await browser.close()
    await db.destroy()
    await stack.stop()
    removeHome(home)
  }
}

await main(path.resolve(process.argv[2] ?? '.steward/screenshots'))
