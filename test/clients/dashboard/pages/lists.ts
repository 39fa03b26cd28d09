import { expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { insertTestIntent } from '../../../db/rows.js'
import { makeWallet, type PageWorld } from '../pageWorld.js'
import { untilShown } from '../people.js'
import type { Page, Route } from 'playwright-core'

const TEST_MS = 60_000

export function testLists(world: () => PageWorld): void {
  /** Opens the list of an account with `count` intents. */
  async function openList(count: number, prepare?: (page: Page) => Promise<unknown>) {
    const person = await world().newPerson()
    const wallet = await makeWallet(world(), person, 'alice')
    const add = () => insertTestIntent(world().db, wallet, 'completed')
    for (let made = 0; made < count; made += 1) await add()
    const { page, faults } = await world().open(person)
    await prepare?.(page)
    await page.goto(`${world().host}/dashboard/intents`)
    await untilShown(page)
    return { person, wallet, add, page, faults }
  }

  const topRow = (page: Page) => page.locator('tbody tr').first()
  const idOf = async (page: Page) => topRow(page).locator('[title^=intent_]').getAttribute('title')

  test(
    'shows new rows at once while the list is not in use',
    async () => {
      const { page, add, faults } = await openList(3)
      await page.mouse.move(2, 2)
      const id = await add()
      await page.locator(`[title=${id}]`).waitFor()
      expect(await idOf(page)).toBe(id)
      expect(await page.getByRole('button', { name: / new$/ }).count()).toBe(0)
      expect(faults).toEqual([])
    },
    TEST_MS,
  )

  test(
    'shows rows that arrive before the event stream opens',
    async () => {
      const gate = { open: () => {} }
      const isOpen = new Promise<void>((resolve) => (gate.open = resolve))
      const { page, add } = await openList(1, (page) =>
        page.route('**/dashboard/api/events', async (route: Route) => {
          await isOpen
          await route.continue()
        }),
      )
      const id = await add()
      gate.open()
      await page.locator(`[title=${id}]`).waitFor()
    },
    TEST_MS,
  )

  test(
    'stays on the page when the session check fails',
    async () => {
      const { page, add } = await openList(1)
      const session = '**/dashboard/api/session'
      await page.route(session, (route: Route) => route.abort())
      const failed = page.waitForEvent('requestfailed')
      // The user returns to the page after a while.
      await page.clock.setSystemTime(Date.now() + 60_000)
      await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
      expect((await failed).url()).toMatch(/session$/)
      await page.unroute(session)
      const id = await add()
      await page.locator(`[title=${id}]`).waitFor()
    },
    TEST_MS,
  )

  test(
    'holds new rows back while the user reads, until the button is pressed',
    async () => {
      const { page, add } = await openList(20)
      await page.locator('tbody tr').nth(12).scrollIntoViewIfNeeded()
      await page.mouse.wheel(0, 400)
      await page.waitForFunction('scrollY > 100')
      const before = await idOf(page)
      const placeBefore = await topRow(page).boundingBox()
      const ids = [await add(), await add()]
      await page.getByRole('button', { name: '2 new' }).waitFor()
      expect(await idOf(page)).toBe(before)
      expect(await topRow(page).boundingBox()).toEqual(placeBefore)
      await page.getByRole('button', { name: '2 new' }).click()
      await page.locator(`[title=${ids[1]}]`).waitFor()
      expect(await idOf(page)).toBe(ids[1])
      expect(await page.getByRole('button', { name: / new$/ }).count()).toBe(0)
    },
    TEST_MS,
  )

  test(
    'holds new rows back while a row has the focus, and focuses them after the button',
    async () => {
      const { page, add } = await openList(4)
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.waitForFunction(`document.activeElement.matches('a[data-row]')`)
      const place = () =>
        page.evaluate<number>('document.activeElement.getBoundingClientRect().top')
      const before = await place()
      const id = await add()
      const button = page.getByRole('button', { name: '1 new' })
      await button.waitFor()
      expect(await place()).toBe(before)
      await button.focus()
      await page.keyboard.press('Enter')
      await page.waitForFunction(`document.activeElement.matches('a[data-row]')`)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/intents/${id}`)
    },
    TEST_MS,
  )

  test(
    'shows whole actions on every width, and whole routes and failure codes on wide pages',
    async () => {
      const { page, wallet } = await openList(0)
      const add = (status: 'completed' | 'failed', values: Record<string, unknown>) =>
        insertTestIntent(world().db, wallet, status, values)
      const error = { code: 'INSUFFICIENT_FUNDS', message: 'test' }
      const route = { from_chain: 'ethereum-sepolia', chain: 'arbitrum-sepolia' }
      await add('failed', { action: 'bridge', units: '25000000', ...route, error })
      const id = await add('completed', { action: 'withdraw', units: '110000000' })
      for (const width of [1280, 1180, 900, 375]) {
        await page.setViewportSize({ width, height: 820 })
        await page.goto(`${world().host}/dashboard/intents`)
        await page.locator(`[title=${id}]`).waitFor({ state: 'attached' })
        const cut = await page.evaluate<string[]>(
          `[...document.querySelectorAll('td')].filter((cell) => cell.scrollWidth > cell.clientWidth)
            .map((cell) => cell.innerText)`,
        )
        // A narrow page cuts long routes.
        const wrong = cut.filter((text) => width === 1280 || !text.includes('→'))
        expect([width, wrong]).toEqual([width, []])
      }
    },
    TEST_MS,
  )

  test(
    'exports the filtered list as CSV',
    async () => {
      const { page, wallet } = await openList(2)
      const failed = await insertTestIntent(world().db, wallet, 'failed')
      await page.getByRole('button', { name: 'Failed' }).click()
      await page.locator(`[title=${failed}]`).waitFor()
      const link = page.getByRole('link', { name: 'Export CSV' })
      const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
      const lines = readFileSync(await file.path(), 'utf8')
        .trimEnd()
        .split('\r\n')
      expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual([failed])
    },
    TEST_MS,
  )

  test(
    'links to a wallet with its user id',
    async () => {
      const { page, wallet } = await openList(1)
      await page.goto(`${world().host}/dashboard/wallets/${wallet.id}`)
      await page.getByRole('heading', { name: 'Wallet of alice' }).waitFor()
    },
    TEST_MS,
  )
}
