import { expect, test } from 'vitest'
import { PASSWORD } from '../../../api/dashboard/people.js'
import { watch } from '../browser.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'
import type { Page } from 'playwright-core'

const TEST_MS = 90_000
/** Upper bound of focusable elements on a page. */
const MOST_TABS = 80

/** The accessible name of the focused element, and whether its focus is visible. */
const FOCUSED = `(() => {
  const element = document.activeElement
  if (!element || element === document.body) return { name: '', isMarked: true }
  const label = element.id ? document.querySelector('label[for="' + element.id + '"]') : null
  const name = element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent
  const { outlineStyle } = getComputedStyle(element)
  return { name: (name ?? '').trim(), isMarked: outlineStyle !== 'none' || element.id === 'main' || element.hasAttribute('data-row') }
})()`

/** Whether the focus is in a dialog or in the browser's own controls. */
const IS_INSIDE = `document.activeElement === document.body || document.activeElement.closest('dialog') !== null`

type Focused = { name: string; isMarked: boolean }

/** Presses Tab until the element with this name has the focus. The focus must be visible at each step. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs <= MOST_TABS; tabs += 1) {
    const focused = await page.evaluate<Focused>(FOCUSED)
    expect(focused).toEqual({ name: focused.name, isMarked: true })
    if (focused.name === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach an element with the name ${name}.`)
}

export function testKeyboard(world: () => PageWorld): void {
  test(
    'signs in, creates a key and an intent',
    async () => {
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      const page = await world().browser.newPage()
      const { keyboard } = page
      await page.goto(`${world().host}/dashboard/keys`)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await tabTo(page, 'E-mail')
      await keyboard.type(person.email)
      await tabTo(page, 'Password')
      await keyboard.type(PASSWORD)
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      const faults = watch(page, world().host)

      await tabTo(page, 'New key')
      await keyboard.press('Enter')
      await tabTo(page, 'Name')
      await keyboard.type('made by hand')
      await keyboard.press('Enter')
      await page.getByText('I have copied it').waitFor()
      await tabTo(page, 'I have copied it')
      await keyboard.press('Enter')
      await page.getByRole('cell', { name: 'made by hand', exact: true }).waitFor()
      const { accountId } = person
      const keys = await world().db('api_key').where({ account_id: accountId }).pluck('name')
      expect(keys).toEqual(['made by hand'])

      await tabTo(page, 'Intents')
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Intents', exact: true }).waitFor()
      await tabTo(page, 'New intent')
      await keyboard.press('Enter')
      await page.getByRole('option', { name: /^alice/ }).waitFor({ state: 'attached' })
      await tabTo(page, 'Wallet')
      await keyboard.type('alice')
      await tabTo(page, 'Amount of USDC')
      await keyboard.type('1.25')
      await keyboard.press('Enter')
      await page.waitForURL('**/dashboard/intents/intent_*')
      const rows = await world().db('intent').where({ account_id: accountId })
      expect(rows).toMatchObject([{ wallet_id: wallet.id, action: 'lend', units: '1250000' }])
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a dialog traps the focus, closes on Escape and restores the focus',
    async () => {
      const { page } = await world().open(await world().newPerson())
      await page.goto(`${world().host}/dashboard/keys`)
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      await tabTo(page, 'New key')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      const isInside = () => page.evaluate<boolean>(IS_INSIDE)
      for (let tabs = 0; tabs < 12; tabs += 1) {
        await page.keyboard.press('Tab')
        expect(await isInside()).toBe(true)
      }
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.locator('button:focus', { hasText: 'New key' }).waitFor()
    },
    TEST_MS,
  )

  test(
    'a menu is operated by keys and restores the focus',
    async () => {
      const { page } = await world().open(await world().newPerson())
      await page.goto(`${world().host}/dashboard/`)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.getByRole('button', { name: 'test', exact: true }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menu').waitFor()
      // The menu takes the focus asynchronously, and moves it to the typed entry asynchronously.
      await page.locator('[role=menu] :focus').waitFor()
      await page.keyboard.type('Dark')
      await page.locator('[role=menuitemradio]:focus', { hasText: 'Dark' }).waitFor()
      await page.keyboard.press('Enter')
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      await page.locator('button:focus', { hasText: 'test' }).waitFor()
    },
    TEST_MS,
  )

  test(
    'shortcuts of single keys are turned off by pointer, for all pages of this browser',
    async () => {
      const person = await world().newPerson()
      await makeWallet(world(), person, 'alice')
      const { page, faults } = await world().open(person)
      const { keyboard } = page
      const dialogs = page.getByRole('dialog')
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      const toggle = async () => {
        await page.getByRole('button', { name: 'test', exact: true }).click()
        await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
        await help.getByRole('switch', { name: 'Single-key shortcuts' }).click()
        await help.getByRole('button', { name: 'Close' }).click()
        await help.waitFor({ state: 'detached' })
      }
      const expectNoEffect = async () => {
        for (const key of ['j', '?', '/']) {
          await keyboard.press(key)
          expect(await dialogs.count()).toBe(0)
          expect(await page.locator('a[data-row]:focus').count()).toBe(0)
        }
        await keyboard.press('g')
        await keyboard.press('k')
      }
      await page.goto(`${world().host}/dashboard/wallets`)
      await page.locator('a[data-row]').waitFor()
      await toggle()
      await expectNoEffect()
      await page.reload()
      await page.locator('a[data-row]').waitFor()
      await expectNoEffect()
      // A shortcut with a modifier stays.
      await keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Find' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/dashboard/wallets')
      await keyboard.press('Escape')
      await dialogs.waitFor({ state: 'detached' })
      await toggle()
      await keyboard.press('j')
      await page.locator('a[data-row]:focus').waitFor()
      await keyboard.press('?')
      await help.waitFor()
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )
}
