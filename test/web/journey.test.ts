import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resumeWork, stopWork } from '../../db/lanes/stops.js'
import { createAccount } from '../../db/tenants/accounts.js'
import { startWorld, type OwnWorld } from '../e2e/world.js'
import { barriersInThemes } from './axe.js'
import { hasBrowser, openBrowser } from './browser.js'
import { createPeople, untilShown, type People } from './people.js'
import type { Browser, BrowserContext, Page } from 'playwright-core'

const STACK_MS = 240_000
const JOURNEY_MS = 180_000
const OWNER = 'owner@example.com'

const describeWithBrowser = hasBrowser ? describe : describe.skip

describeWithBrowser('the dashboard in a browser', () => {
  let world: OwnWorld
  let browser: Browser
  let host: string
  let people: People

  beforeAll(async () => {
    world = await startWorld()
    host = world.stack.facts.hostUrl
    browser = await openBrowser()
    people = createPeople(browser, { host, db: world.db })
  }, STACK_MS)

  afterAll(async () => {
    await browser?.close()
    await world?.stop()
  }, STACK_MS)

  /** What the API says to whoever has a key. */
  const askWith = (key: string) =>
    fetch(`${host}/v1/yields`, { headers: { authorization: `Bearer ${key}` } })

  const untilListed = (page: Page, name: string) =>
    page.getByRole('cell', { name, exact: true }).waitFor()

  test(
    'from an invitation to a lend that completes before the eyes of its maker',
    async () => {
      const wallet = await world.createWallet({ 'arbitrum-sepolia': '2' })
      const { page, faults } = await people.join({ email: OWNER, role: 'owner', isOperator: true })

      // A key, shown once, that the API takes.
      await page.getByRole('link', { name: 'API keys', exact: true }).click()
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name').fill('journey')
      await page.getByRole('button', { name: 'Create key' }).click()
      const shown = page.getByRole('dialog').locator('pre').first()
      const key = (await shown.innerText()).trim()
      expect(key).toMatch(/^svc_sk_/)
      expect((await askWith(key)).status).toBe(200)
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await untilListed(page, 'journey')
      expect(await page.content()).not.toContain(key)

      // Once it is revoked, it opens nothing any more.
      await page.getByRole('button', { name: 'Actions for key journey' }).click()
      await page.getByRole('menuitem', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: `Revoke key …${key.slice(-4)}` }).click()
      await page.getByText('Revoked', { exact: true }).waitFor()
      expect((await askWith(key)).status).toBe(401)

      // A lend from the form: the plan stands beside it, and the button says what it will do.
      await page.goto(`${host}/dashboard/intents/new?walletId=${wallet.id}`)
      await page.getByLabel('Amount of USDC').fill('1')
      await page.getByText('What would happen').waitFor()
      const lend = page.getByRole('button', { name: /^Lend 1 USDC on Base Sepolia$/ })
      await lend.waitFor()
      // A reload would forget this.
      await page.evaluate('window.isSamePage = true')
      const before = await creditsOf(page)
      await lend.click()
      await page.getByText('Completed', { exact: true }).first().waitFor()
      await page.getByText(/^Lent 0\.\d+ USDC on Base Sepolia/).waitFor()
      expect(await page.evaluate('window.isSamePage')).toBe(true)
      expect(before - (await creditsOf(page))).toBe(5)
      for (const part of [/^Burn/, /^Attestation/, /^Mint/]) {
        expect(await page.getByRole('listitem').getByText(part).count()).toBe(1)
      }

      // What the page says is what the service has stored.
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
      const row = await world.db('intent').where({ id }).first<{ status: string }>('status')
      expect(row.status).toBe('completed')
      expect(faults).toEqual([])
    },
    JOURNEY_MS,
  )

  test(
    'a viewer reads, and is offered nothing that he may not do',
    async () => {
      const { page, faults } = await people.join({ email: 'viewer@example.com', role: 'viewer' })
      await page.getByRole('link', { name: 'API keys', exact: true }).click()
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0)
      const status = await page.evaluate(async () => {
        const order = { method: 'POST', body: '{"name":"mine","scopes":["read"]}' }
        const headers = { 'content-type': 'application/json' }
        return (await fetch('/dashboard/api/keys', { ...order, headers })).status
      })
      expect(status).toBe(403)
      expect(faults.filter((fault) => !fault.includes('403'))).toEqual([])
    },
    JOURNEY_MS,
  )

  test(
    'who is not signed in is asked to, and then comes to where he wanted to go',
    async () => {
      const { page } = await people.signIn(OWNER, '/intents?status=completed')
      await page.getByRole('heading', { name: 'Intents' }).waitFor()
      expect(new URL(page.url()).search).toBe('?status=completed')
      // By the keyboard alone: the first row, and in.
      await page.locator('a[data-row]').first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByText('Steps', { exact: true }).waitFor()
      expect(page.url()).toMatch(/\/dashboard\/intents\/intent_/)
    },
    JOURNEY_MS,
  )

  test(
    'who wants to know what was asked, and what it cost, finds it from anywhere',
    async () => {
      const wallet = await world.createWallet({})
      const { page, faults } = await people.join({
        email: 'developer@example.com',
        role: 'developer',
      })

      // By the keyboard alone, from any page: an id is typed, and its page is there.
      await page.keyboard.press('/')
      await page.keyboard.type(wallet.id)
      await page.getByRole('list', { name: 'Found' }).getByText(wallet.id).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/wallets/${wallet.id}`)

      // The call that made it: found by what it was about, its facts lead back to the wallet.
      await page.goto(`${host}/dashboard/requests?resourceId=${wallet.id}`)
      await page.getByRole('link', { name: /^POST .*\/wallets$/ }).click()
      const facts = page.getByRole('dialog', { name: 'Request' })
      await facts.getByText('Id', { exact: true }).waitFor()
      expect(await facts.locator(`a[href$="/wallets/${wallet.id}"]`).count()).toBe(1)
      const requestId = new URL(page.url()).searchParams.get('open') ?? ''
      await page.keyboard.press('Escape')
      await facts.waitFor({ state: 'detached' })

      // What it cost, as a row that is stored, and as a file.
      await page.getByRole('link', { name: 'Usage & credits' }).click()
      await page.getByRole('table', { name: 'By endpoint' }).waitFor()
      const entry = page.getByRole('row').filter({ has: page.locator(`[title="${requestId}"]`) })
      await entry.getByText('−1', { exact: true }).waitFor()
      const link = page.getByRole('link', { name: 'Ledger as CSV' })
      const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
      expect(file.suggestedFilename()).toBe('ledger.csv')
      expect(faults).toEqual([])
    },
    JOURNEY_MS,
  )

  test(
    'an intent of another account is not found, by whoever knows its id',
    async () => {
      const { id } = await world.db('intent').first<{ id: string }>('id')
      const account = await createAccount(world.db, { name: 'Another', plan: 'pro' })
      const stranger = { email: 'stranger@example.com', role: 'owner' as const }
      const { page } = await people.join({ ...stranger, accountId: account.id })
      await page.goto(`${host}/dashboard/intents/${id}`)
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('alert').innerText()).toMatch(/not found|no intent/i)
      await page.goto(`${host}/dashboard/intents`)
      await page.getByText('No intents yet').waitFor()
      // Nor the deployment, by its address.
      await page.goto(`${host}/dashboard/system`)
      await page.getByText('Only operators of this service').waitFor()
      expect(await page.getByRole('link', { name: 'System' }).count()).toBe(0)
    },
    JOURNEY_MS,
  )

  test(
    'an API that ends in between: the page says so, keeps what it shows, and goes on after',
    async () => {
      const { page } = await people.signIn(OWNER, '/intents')
      const rows = page.locator('a[data-row]')
      await rows.first().waitFor()
      await page.evaluate('window.isSamePage = true')
      const notice = page.getByText('Live updates are interrupted')
      const shown = await rows.count()
      process.kill(world.stack.readFacts().pids.api, 'SIGKILL')
      await notice.waitFor()
      expect(await rows.count()).toBe(shown)
      await notice.waitFor({ state: 'detached' })
      // What happens from now on is seen again, without a reload.
      const wallet = await world.createWallet({ 'base-sepolia': '1' })
      await world.create(wallet, { action: 'lend', amount: 1, chain: 'base-sepolia' })
      await rows.nth(shown).waitFor()
      expect(await page.evaluate('window.isSamePage')).toBe(true)
    },
    JOURNEY_MS,
  )

  test(
    'an operator sees what is at work and what is stopped, and comes to the workflow of an intent',
    async () => {
      const { page, faults } = await people.signIn(OWNER, '/system')
      for (const name of ['Chains', 'Lanes', 'Treasury']) {
        const rows = page.getByRole('table', { name }).locator('tbody tr')
        await rows.first().waitFor()
        expect(await rows.count()).toBeGreaterThanOrEqual(3)
      }
      await page.getByText('Nothing is stopped.').waitFor()
      const chain = await world.db('chain').where({ name: 'base-sepolia' }).first<{ id: bigint }>()
      const target = { scope: 'chain' as const, subject: String(chain.id) }
      await stopWork(world.db, target, { by: 'alice', why: 'a market looks odd' })
      const stopped = page.getByRole('table', { name: 'Paused and frozen' }).getByRole('row')
      await stopped.filter({ hasText: 'Base Sepolia' }).waitFor()
      expect(await stopped.last().innerText()).toMatch(/a market looks odd\s+alice/)
      await resumeWork(world.db, target, { by: 'alice', why: 'it is well' })
      await page.getByText('Nothing is stopped.').waitFor()
      await page.goto(`${host}/dashboard/intents`)
      await page.locator('a[data-row]').last().click()
      const href = await page.getByRole('link', { name: 'Workflow' }).getAttribute('href')
      const id = new URL(page.url()).pathname.split('/').at(-1)
      expect(href).toMatch(new RegExp(`^http://.*/namespaces/default/workflows/${id}$`))
      expect(faults).toEqual([])
    },
    JOURNEY_MS,
  )

  test(
    'no page keeps anybody out, in either theme',
    async () => {
      const { page: signedIn } = await people.signIn(OWNER, '/')
      const storageState = await signedIn.context().storageState()
      const inside = await browser.newContext({ bypassCSP: true, storageState })
      const outside = await browser.newContext({ bypassCSP: true })
      const invitation = await people.invite({ email: 'late@example.com', role: 'developer' })
      const { id } = await world.db('intent').first<{ id: string }>('id')
      const { id: walletId } = await world.db('wallet').first<{ id: string }>('id')
      const paths = [
        ...['', '/intents', `/intents/${id}`, `/intents/new?walletId=${walletId}&amount=1`],
        ...['/wallets', `/wallets/${walletId}`, '/yields', '/keys', '/credits', '/settings'],
        ...['/requests', '/webhooks', '/system', '/intents/intent_unknown'],
      ]
      const barriers = [
        ...(await barriersOn(outside, [`${host}/dashboard/sign-in`, invitation])),
        ...(await barriersOn(
          inside,
          paths.map((path) => `${host}/dashboard${path}`),
        )),
      ]
      expect(barriers).toEqual([])
    },
    JOURNEY_MS,
  )
})

async function barriersOn(context: BrowserContext, addresses: string[]): Promise<string[]> {
  const page = await context.newPage()
  const found: string[] = []
  for (const address of addresses) {
    await page.goto(address)
    await untilShown(page)
    const barriers = await barriersInThemes(page)
    found.push(...barriers.map((barrier) => `${address}, ${barrier}`))
  }
  return found
}

/** What is left, as the dashboard is told. */
const creditsOf = (page: Page) =>
  page.evaluate(async () => {
    const answer = await fetch('/dashboard/api/credits')
    return ((await answer.json()) as { balance: number }).balance
  })
