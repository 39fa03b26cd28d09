import { expect, test } from 'vitest'
import { insertTestIntent } from '../../../db/rows.js'
import { barriersInThemes } from '../axe.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'
import { untilShown } from '../people.js'
import type { Page, Route } from 'playwright-core'

const TEST_MS = 90_000

/** Resolves when the heading of this page has the focus. */
const untilFocused = (page: Page, heading: string) =>
  page.locator('h1:focus', { hasText: new RegExp(`^${heading}$`) }).waitFor()

const focused = (page: Page) => page.evaluate<string>('document.activeElement.tagName')

export function testShell(world: () => PageWorld): void {
  const at = (path: string) => `${world().host}/dashboard${path}`

  /** A page with the list of one intent. */
  async function openIntents() {
    const person = await world().newPerson()
    const wallet = await makeWallet(world(), person, 'alice')
    const id = await insertTestIntent(world().db, wallet, 'completed')
    const { page, faults } = await world().open(person)
    await page.goto(at('/intents'))
    await page.locator('a[data-row]').waitFor()
    return { page, faults, wallet, id }
  }

  test(
    'each page names the window, and a navigation moves the focus to its heading',
    async () => {
      const { page, faults, wallet } = await openIntents()
      expect(await focused(page)).toBe('BODY')
      expect(await page.title()).toBe('Intents · Steward')
      await page.locator('a[data-row]').click()
      await untilFocused(page, 'Lend 1 USDC')
      expect(await page.title()).toBe('Lend 1 USDC · Steward')
      await page.getByRole('link', { name: 'Wallets' }).click()
      await untilFocused(page, 'Wallets')
      await page.getByRole('link', { name: 'alice' }).click()
      await untilFocused(page, 'Wallet .*')
      await page.goBack()
      await untilFocused(page, 'Wallets')
      await page.keyboard.press('/')
      await page.keyboard.type(wallet.id)
      await page.keyboard.press('Enter')
      await untilFocused(page, 'Wallet .*')
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a page that arrives late leaves the focus to a user who has moved it since',
    async () => {
      const { page, id } = await openIntents()
      const gate = { open: () => {} }
      const isOpen = new Promise<void>((resolve) => (gate.open = resolve))
      await page.route(`**/dashboard/api/intents/${id}`, async (route: Route) => {
        await isOpen
        await route.continue()
      })
      await page.locator('a[data-row]').click()
      await page.waitForURL(`**/intents/${id}`)
      await page.keyboard.press('Tab')
      gate.open()
      await page.getByRole('heading', { name: 'Lend 1 USDC' }).waitFor()
      expect(await focused(page)).not.toBe('H1')
    },
    TEST_MS,
  )

  test(
    'keys open pages, the search and the list of keys, and do nothing in a field',
    async () => {
      const { page, faults } = await openIntents()
      const { keyboard } = page
      for (const [letter, heading] of [
        ['w', 'Wallets'],
        ['k', 'API keys'],
        ['o', 'Overview'],
        ['s', 'Settings'],
        ['w', 'Wallets'],
      ] as const) {
        await keyboard.press('g')
        await keyboard.press(letter)
        await untilFocused(page, heading)
      }
      await keyboard.press('?')
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await help.getByText('Usage & credits').waitFor()
      expect(await barriersInThemes(page)).toEqual([])
      // A dialog is open: the keys of the page do nothing.
      await keyboard.press('g')
      await keyboard.press('i')
      await keyboard.press('Escape')
      await help.waitFor({ state: 'detached' })
      const field = page.getByLabel('Find a wallet by the id of its user')
      await field.click()
      await keyboard.type('gi?/')
      expect(await field.inputValue()).toBe('gi?/')
      expect(await page.getByRole('dialog').count()).toBe(0)
      expect(new URL(page.url()).pathname).toBe('/dashboard/wallets')
      await keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Find' }).waitFor()
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test.each([
    ['/nonsense/of/any/depth', 'Page not found'],
    ['/intents/intent_unknown', 'Intent not found'],
    ['/wallets/svc_wallet_unknown', 'Wallet not found'],
    ['/webhooks/wh_unknown', 'Endpoint not found'],
  ])(
    'an unknown address keeps the frame and offers ways on: %s',
    async (path, heading) => {
      const { page } = await world().open(await world().newPerson())
      await page.goto(at(path))
      await page.getByRole('heading', { name: heading }).waitFor()
      expect(await page.title()).toBe(`${heading} · Steward`)
      expect(await barriersInThemes(page)).toEqual([])
      const main = page.locator('main')
      await main.getByRole('button', { name: 'Find any id' }).click()
      await page.getByRole('dialog', { name: 'Find' }).waitFor()
      await page.keyboard.press('Escape')
      await main.getByRole('link', { name: 'Wallets' }).click()
      await untilFocused(page, 'Wallets')
      await page.goBack()
      await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
      await untilFocused(page, 'Settings')
    },
    TEST_MS,
  )

  test(
    'an unknown address leads through the sign-in',
    async () => {
      const page = await world().browser.newPage()
      await page.goto(at('/nonsense'))
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      expect(new URL(page.url()).searchParams.get('next')).toBe('/nonsense')
    },
    TEST_MS,
  )

  test(
    'a failed read of an intent keeps its heading and can be repeated',
    async () => {
      const { page, id } = await openIntents()
      const address = `**/dashboard/api/intents/${id}`
      await page.route(address, (route: Route) => route.fulfill({ status: 429, json: {} }))
      await page.goto(at(`/intents/${id}`))
      await page.getByRole('heading', { name: 'Intent', exact: true }).waitFor()
      await page.unroute(address)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: 'Lend 1 USDC' }).waitFor()
      await untilShown(page)
    },
    TEST_MS,
  )
}
