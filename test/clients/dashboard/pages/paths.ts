import { expect, test } from 'vitest'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { insertTestIntent } from '../../../db/rows.js'
import { PASSWORD } from '../../../api/dashboard/people.js'
import { startApi } from '../../../api/api.js'
import { silentChains } from '../../../planning/chains.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'

const TEST_MS = 60_000

export function testPaths(world: () => PageWorld): void {
  test(
    'a viewer reads and sees no forbidden action',
    async () => {
      const { page, faults } = await world().open(await world().newPerson({ role: 'viewer' }))
      await page.goto(`${world().host}/dashboard/`)
      await page.getByRole('link', { name: 'API keys', exact: true }).click()
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0)
      const status = await page.evaluate(async () => {
        const order = { method: 'POST', body: '{"name":"mine","scopes":["read"]}' }
        const headers = { 'content-type': 'application/json' }
        return (await fetch('/dashboard/api/keys', { ...order, headers })).status
      })
      expect(status).toBe(403)
      expect(ownFaults(faults).filter((fault) => !fault.includes('403'))).toEqual([])
    },
    TEST_MS,
  )

  test(
    'redirects to the sign-in and back to the requested page',
    async () => {
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      const id = await insertTestIntent(world().db, wallet, 'completed')
      const page = await world().browser.newPage()
      await page.goto(`${world().host}/dashboard/intents?status=completed`)
      await page.getByLabel('E-mail').fill(person.email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Intents' }).waitFor()
      expect(new URL(page.url()).search).toBe('?status=completed')
      // By keyboard: focus the first row and open it.
      await page.locator('a[data-row]').first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/intents/${id}`)
    },
    TEST_MS,
  )

  test(
    'search, request log and ledger lead to a call and its cost',
    async () => {
      const person = await world().newPerson({ role: 'developer' })
      const key = await createApiKey(world().db, person.accountId, { name: 'backend' })
      const { api } = world().world
      const wallet = (await api.call('POST', '/v1/wallets', { key, body: { userId: 'bob' } })).body
      const { page, faults } = await world().open(person)
      await page.goto(`${world().host}/dashboard/`)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()

      // By keyboard from any page: typing an id opens its page.
      await page.keyboard.press('/')
      await page.keyboard.type(wallet.id)
      await page.getByRole('list', { name: 'Found' }).getByText(wallet.id).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/wallets/${wallet.id}`)

      // The request log finds the call by its resource, and its facts link to the wallet.
      await page.goto(`${world().host}/dashboard/requests?resourceId=${wallet.id}`)
      await page.getByRole('link', { name: /^POST .*\/wallets$/ }).click()
      const facts = page.getByRole('dialog', { name: 'Request' })
      await facts.getByText('Id', { exact: true }).waitFor()
      expect(await facts.locator(`a[href$="/wallets/${wallet.id}"]`).count()).toBe(1)
      const requestId = new URL(page.url()).searchParams.get('open') ?? ''
      await page.keyboard.press('Escape')
      await facts.waitFor({ state: 'detached' })

      // The cost is in the ledger and in the CSV file.
      await page.getByRole('link', { name: 'Usage & credits' }).click()
      await page.getByRole('table', { name: 'By endpoint' }).waitFor()
      const entry = page.getByRole('row').filter({ has: page.locator(`[title="${requestId}"]`) })
      await entry.getByText('−1', { exact: true }).waitFor()
      const link = page.getByRole('link', { name: 'Ledger as CSV' })
      const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
      expect(file.suggestedFilename()).toBe('ledger.csv')
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'error: an intent of another account is not found',
    async () => {
      const wallet = await makeWallet(world(), await world().newPerson(), 'alice')
      const id = await insertTestIntent(world().db, wallet, 'completed')
      const { page } = await world().open(await world().newPerson())
      await page.goto(`${world().host}/dashboard/intents/${id}`)
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('alert').innerText()).toMatch(/not found|no intent/i)
      await page.goto(`${world().host}/dashboard/intents`)
      await page.getByText('No intents yet').waitFor()
      // The system page is forbidden as well.
      await page.goto(`${world().host}/dashboard/system`)
      await page.getByText('Only operators of this service').waitFor()
      expect(await page.getByRole('link', { name: 'System' }).count()).toBe(0)
    },
    TEST_MS,
  )

  test(
    'a restart of the API: the page shows a notice, keeps its data and reconnects',
    async () => {
      const { database, db, temporal } = world().world
      const listenUrl = database.urlAs('steward_api')
      const startOwn = (port = 0) =>
        startApi({ db, temporal: temporal.client, listenUrl, port, ...silentChains() })
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      await insertTestIntent(world().db, wallet, 'completed')
      let api = await startOwn()
      try {
        const { page } = await world().open(person)
        await page.goto(`${api.url}/dashboard/intents`)
        const rows = page.locator('a[data-row]')
        await rows.first().waitFor()
        await page.evaluate('window.isSamePage = true')
        const notice = page.getByText('Live updates are interrupted')
        await api.stop()
        await notice.waitFor()
        expect(await rows.count()).toBe(1)
        api = await startOwn(api.port)
        await notice.waitFor({ state: 'detached' })
        // New events appear again without a reload.
        await insertTestIntent(world().db, wallet, 'completed')
        await rows.nth(1).waitFor()
        expect(await page.evaluate('window.isSamePage')).toBe(true)
      } finally {
        await api.stop()
      }
    },
    TEST_MS,
  )
}
