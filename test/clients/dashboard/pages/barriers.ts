import { expect, test } from 'vitest'
import { insertTestIntent } from '../../../db/rows.js'
import { barriersInThemes } from '../axe.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'
import { untilShown } from '../people.js'
import type { Page, Route } from 'playwright-core'

const TEST_MS = 180_000

/** Requests of every page. */
const isShell = (url: string) => /\/dashboard\/api\/(session|events)/.test(url)

export function testBarriers(world: () => PageWorld): void {
  const lists = [
    '',
    '/intents',
    '/wallets',
    '/keys',
    '/requests',
    '/credits',
    '/settings',
    '/yields',
  ]
  const filtered = ['/intents?status=failed', '/requests?status=5xx', '/wallets?userId=unknown']

  /** The violations of several pages, each checked when `until` resolves. */
  async function lookAt(
    page: Page,
    paths: readonly string[],
    until: (page: Page) => Promise<void>,
  ) {
    const found: string[] = []
    for (const path of paths) {
      await page.goto(`${world().host}/dashboard${path}`)
      await until(page)
      found.push(...(await barriersInThemes(page)).map((barrier) => `${path}: ${barrier}`))
    }
    return found
  }

  test(
    'empty lists and filters without matches',
    async () => {
      const { page, faults } = await world().open(await world().newPerson())
      expect(await lookAt(page, [...lists, ...filtered], untilShown)).toEqual([])
      // The pages have no errors and no foreign requests.
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'pages with failed requests',
    async () => {
      const { page } = await world().open(await world().newPerson({ isOperator: true }))
      const message = 'The service cannot do this now.'
      const requestId = `req_${'0'.repeat(26)}`
      await page.route('**/dashboard/api/**', (route: Route) =>
        isShell(route.request().url())
          ? route.continue()
          : route.fulfill({ status: 409, json: { error: 'X', message, details: { requestId } } }),
      )
      const untilFailed = (shown: Page) => shown.getByText(requestId).first().waitFor()
      const details = ['/intents/intent_1', '/wallets/svc_wallet_1', '/yields', '/system']
      const paths = ['', '/intents', '/credits', ...details]
      expect(await lookAt(page, paths, untilFailed)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'loading pages',
    async () => {
      const { page } = await world().open(await world().newPerson({ isOperator: true }))
      await page.route('**/dashboard/api/**', (route: Route) =>
        isShell(route.request().url()) ? route.continue() : undefined,
      )
      const untilLate = (shown: Page) =>
        shown.getByRole('status', { name: 'Loading' }).locator('div div').first().waitFor()
      const paths = ['', '/intents', '/intents/intent_1', '/credits']
      expect(await lookAt(page, paths, untilLate)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'dialogs and menus, with their errors',
    async () => {
      const person = await world().newPerson()
      const { accountId, cookie } = person
      await world().newPerson({ accountId, role: 'viewer' })
      const wallet = await makeWallet(world(), person, 'alice')
      const intentId = await insertTestIntent(world().db, wallet, 'pending')
      const body = { name: 'backend', scopes: ['read'] }
      await world().pages('POST', '/keys', { cookie, body })
      const { page } = await world().open(person)
      const button = (name: string | RegExp) => page.getByRole('button', { name }).click()
      const item = (name: string) => page.getByRole('menuitem', { name }).click()
      const type = (label: string, text: string) => page.getByLabel(label).fill(text)
      const shown: [name: string, path: string, open: () => Promise<void>][] = [
        ['new key', '/keys', () => button('New key')],
        [
          'key shown',
          '/keys',
          async () => {
            await button('New key')
            await type('Name', 'second')
            await button('Create key')
            await page.getByText('I have copied it').waitFor()
          },
        ],
        ['menu of a key', '/keys', () => button('Actions for key backend')],
        [
          'revoke',
          '/keys',
          async () => {
            await button('Actions for key backend')
            await item('Revoke')
          },
        ],
        ['use of a key', '/keys', () => page.getByRole('link', { name: 'backend' }).click()],
        ['new wallet', '/wallets', () => button('New wallet')],
        [
          'invitation',
          '/settings',
          async () => {
            await button('Invite')
            await type('E-mail', 'new@example.com')
            await button('Create link')
            await page.getByText('It works once').waitFor()
          },
        ],
        [
          'rejected invitation',
          '/settings',
          async () => {
            await button('Invite')
            await type('E-mail', person.email)
            await button('Create link')
            await page.getByRole('alert').waitFor()
          },
        ],
        ['menu of a member', '/settings', () => button(/^Actions for member/)],
        [
          'role',
          '/settings',
          async () => {
            await button(/^Actions for member/)
            await item('Change role')
          },
        ],
        ['search', '/', () => button(/^Find any id/)],
        ['cancel', `/intents/${intentId}`, () => button('Cancel intent')],
        ['account menu', '/', () => button('test')],
      ]
      const found: string[] = []
      for (const [name, path, open] of shown) {
        await page.goto(`${world().host}/dashboard${path}`)
        await untilShown(page)
        await open()
        await page.locator('dialog[open], [role=menu]').first().waitFor()
        found.push(...(await barriersInThemes(page)).map((barrier) => `${name}: ${barrier}`))
      }
      expect(found).toEqual([])
    },
    TEST_MS,
  )
}
