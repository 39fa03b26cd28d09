import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { connect } from '../../../db/client/connect.js'
import { createClient, createHome, removeHome, startStack, type Stack } from '../../e2e/stack.js'
import { openBrowser } from './browser.js'
import { createPeople, untilShown } from './people.js'
import type { Page } from 'playwright-core'

/**
 * Takes screenshots of every dashboard page, in both themes and two widths. Starts its own stack with the sample
 * data. Usage: `npm run screenshots -- [folder]`; the default folder is `.steward/screenshots`. It also
 * updates the pictures of `docs/gallery`.
 */

const EMAIL = 'ada@example.com'
const widths = [1280, 375]
const themes = ['light', 'dark'] as const
const HEIGHT = 820

type Seeds = Record<'walletId' | 'lent' | 'failed' | 'waiting' | 'webhook', string>

/** Resources of the sample data that the pages show: those of its users alice and farid. */
async function findSeeds({ facts }: Stack): Promise<Seeds> {
  const call = createClient(facts)
  const idOf = (body: unknown) => (body as { id: string }).id
  const { body: alice } = await call('GET', '/wallets/alice')
  const firstIntent = async (query: string) => {
    const { body } = await call('GET', `/intents?limit=1&${query}`)
    return idOf((body.data as unknown[])[0])
  }
  const { body: webhooks } = await call('GET', '/webhooks')
  const walletId = idOf(alice)
  const mine = `walletId=${walletId}`
  return {
    walletId,
    lent: await firstIntent(`${mine}&action=lend&status=completed&createdBefore=${daysAgo(8)}`),
    failed: await firstIntent('action=lend&errorCode=DEPOSIT_FAILED'),
    waiting: await firstIntent('status=executing'),
    webhook: idOf(
      (webhooks.data as { description: string }[]).find(({ description }) =>
        /Ledger/.test(description),
      ),
    ),
  }
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

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

/** Pictures of the documentation, in `docs/gallery`, and the screenshots that they show. */
const gallery = {
  'overview-light': 'overview-light-1280',
  'overview-phone-dark': 'overview-dark-375',
  'intent-dark': 'intent-completed-dark-1280',
  'intents-light': 'intents-light-1280',
  'new-intent-light': 'new-intent-light-1280',
  'yields-dark': 'yields-dark-1280',
}

async function copyToGallery(folder: string): Promise<void> {
  for (const [picture, name] of Object.entries(gallery)) {
    await copyFile(path.join(folder, `${name}.png`), path.join('docs/gallery', `${picture}.png`))
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
  const stack = await startStack(home, {}, ['--sample-data'])
  const db = connect(stack.facts.databaseUrl, 2)
  try {
    const seeds = await findSeeds(stack)
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
    await copyToGallery(folder)
    for (const fault of faults) console.error(fault)
    process.exitCode = faults.length > 0 ? 1 : 0
  } finally {
    await browser.close()
    await db.destroy()
    await stack.stop()
    removeHome(home)
  }
}

await main(path.resolve(process.argv[2] ?? '.steward/screenshots'))
