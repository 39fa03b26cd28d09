import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBrowser, openBrowser } from '../../clients/dashboard/browser.js'
import { newPerson, pagesOf, type Person } from '../dashboard/people.js'
import { startWorld, type ApiWorld } from '../api.js'
import { createReader, failures, type Read } from './reader.js'
import type { Browser, Page } from 'playwright-core'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const describeWithBrowser = hasBrowser ? describe : describe.skip

let world: ApiWorld
let browser: Browser
let read: Read

describeWithBrowser("the reader's key", () => {
  beforeAll(async () => {
    world = await startWorld()
    browser = await openBrowser()
    read = createReader(world, browser)
  })
  afterAll(async () => {
    await browser?.close()
    await world?.stop()
  })

  const code = (page: Page) => page.locator('pre').allTextContents()
  const open = (page: Page) => page.locator('#key-open').click()
  const createButton = (page: Page) =>
    page.getByRole('button', { name: 'Create a key for one day' })

  const signIn = async (page: Page, { cookie }: Person) => {
    const [name = '', value = ''] = cookie.split('=')
    const { hostname: domain } = new URL(world.api.url)
    const session = { name, value, domain, path: '/dashboard', httpOnly: true }
    await page.context().addCookies([session])
  }

  /** Replaces fields of the session that the dashboard returns. */
  const changeSession = (page: Page, fields: object) =>
    page.route('**/dashboard/api/session', async (route) => {
      const response = await route.fetch()
      const session = (await response.json()) as object
      await route.fulfill({ response, json: { ...session, ...fields } })
    })

  const paste = async (page: Page) => {
    await open(page)
    await page.getByLabel('API key for the samples').fill('svc_sk_0123')
    await page.getByRole('button', { name: 'Use', exact: true }).click()
    await page.getByText('The key is in the samples.').waitFor()
  }

  /** Loads the page again, and waits for the answer to its question for the session. */
  const reloadWithSession = async (page: Page) => {
    const answered = page.waitForResponse('**/dashboard/api/session')
    await page.reload()
    await (await answered).finished()
  }

  const keysOf = ({ accountId }: Person) =>
    world.database.db('api_key').where({ account_id: accountId }).select<{ scopes: string[] }[]>()

  test('the address of this service is in every sample, and the key once it is pasted', async () => {
    await read(
      '/docs/guides/mcp',
      async (page) => {
        const url = `${world.api.url}/mcp`
        const printed = (await code(page)).join('\n')
        expect(printed).toContain(`steward ${url} --header "Authorization: Bearer svc_sk_…"`)
        expect(printed).not.toContain('steward.example')
        await paste(page)
        const filled = (await code(page)).join('\n')
        expect(filled).toContain(`steward ${url} --header "Authorization: Bearer svc_sk_0123"`)
        expect(filled).not.toMatch(/svc_sk_…|\$STEWARD_API_KEY/)
        expect(page.url()).not.toContain('0123')
        await page.reload()
        expect((await code(page)).join('\n')).toBe(filled)
        await open(page)
        await page.getByRole('button', { name: 'Remove the key' }).click()
        expect((await code(page)).join('\n')).toBe(printed)
      },
      { expected: /401/ },
    )
  })

  test('a signed-in reader creates a key for one day, the API page uses it, and sign-out removes it', async () => {
    const person = await newPerson(world)
    const { cookie, accountId } = person
    await read(
      '/docs/quickstart',
      async (page) => {
        await signIn(page, person)
        await open(page)
        await createButton(page).click()
        await page.getByText('It expires in 24 hours.').waitFor()
        const [, key = ''] =
          /STEWARD_API_KEY=(svc_sk_\w+)/.exec((await code(page)).join('\n')) ?? []
        const { status } = await world.api.call('GET', '/v1/wallets', { key })
        expect(status).toBe(200)
        const { created_at: created, expires_at: expires } = await world.database
          .db('api_key')
          .where({ account_id: accountId })
          .first<{ created_at: Date; expires_at: Date }>()
        const hours = (expires.getTime() - created.getTime()) / 3_600_000
        expect(hours).toBeCloseTo(24, 1)
        expect(world.api.logText()).not.toContain(key)

        await page.goto('/docs/api#/Wallets/listWallets')
        await page.getByRole('button', { name: 'Execute', exact: true }).click()
        await page
          .locator('.live-responses-table .response-col_status', { hasText: '200' })
          .waitFor()

        await pagesOf(world)('POST', '/session/end', { cookie, body: {} })
        const left = page.waitForEvent('console', (message) => message.text().includes('401'))
        await page.goto('/docs/quickstart')
        await left
        await page.getByRole('button', { name: 'Use your key' }).waitFor()
        expect((await code(page)).join('\n')).not.toContain(key)
        expect(await page.evaluate('sessionStorage.length')).toBe(0)
      },
      { expected: /401/ },
    )
  })

  test('a double click creates one key, which on mainnet can only read', async () => {
    const person = await newPerson(world)
    await read('/docs/quickstart', async (page) => {
      await signIn(page, person)
      await changeSession(page, { environment: 'mainnet' })
      await open(page)
      await createButton(page).dblclick()
      await page.getByText('It can only read and expires in 24 hours.').waitFor()
      expect(await createButton(page).isEnabled()).toBe(true)
      expect((await keysOf(person)).map(({ scopes }) => scopes)).toEqual([['read']])
      const revoke = page.getByRole('link', { name: 'keys page of the dashboard' })
      expect(await revoke.getAttribute('href')).toBe('/dashboard/keys')
    })
  })

  test('a viewer is not offered to create a key, and uses a pasted one', async () => {
    const viewer = await newPerson(world, { role: 'viewer' })
    await read('/docs/quickstart', async (page) => {
      await signIn(page, viewer)
      await open(page)
      await createButton(page).waitFor({ state: 'hidden' })
      await page.getByLabel('API key for the samples').fill('svc_sk_0123')
      await page.getByRole('button', { name: 'Use', exact: true }).click()
      await page.getByText('The key is in the samples.').waitFor()
      expect(await keysOf(viewer)).toEqual([])
    })
  })

  test('a key that a signed-in reader pastes is removed after a sign-out', async () => {
    const person = await newPerson(world)
    await read(
      '/docs/quickstart',
      async (page) => {
        await signIn(page, person)
        await paste(page)
        await reloadWithSession(page)
        await page.getByRole('button', { name: 'Key …0123' }).waitFor()
        await pagesOf(world)('POST', '/session/end', { cookie: person.cookie, body: {} })
        await page.reload()
        await page.getByRole('button', { name: 'Use your key' }).waitFor()
        expect(await page.evaluate('sessionStorage.length')).toBe(0)
      },
      { expected: /401/ },
    )
  })

  test('a key is removed after a switch of the account', async () => {
    const person = await newPerson(world)
    await read('/docs/quickstart', async (page) => {
      await signIn(page, person)
      await paste(page)
      await changeSession(page, { account: { id: 'acct_other', name: 'Other', plan: 'pro' } })
      await page.reload()
      await page.getByRole('button', { name: 'Use your key' }).waitFor()
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
    })
  })

  test.each(failures)('%s is reported and removes no key', async (_name, breakDown) => {
    const person = await newPerson(world)
    await read(
      '/docs/quickstart',
      async (page) => {
        await signIn(page, person)
        await paste(page)
        await page.route('**/dashboard/api/session', breakDown)
        await page.reload()
        await open(page)
        const failure = page.getByText('The service did not answer. Try again.')
        await failure.waitFor()
        await page.getByRole('button', { name: 'Key …0123' }).waitFor()
        await page.evaluate("document.getElementById('key-status').replaceChildren()")
        await createButton(page).click()
        await failure.waitFor()
        expect(await createButton(page).isEnabled()).toBe(true)
        expect(await keysOf(person)).toEqual([])
      },
      { expected: /503|ERR_FAILED/ },
    )
  })

  test('an invalid key and a missing session are reported', async () => {
    await read(
      '/docs/quickstart',
      async (page) => {
        await open(page)
        await page.getByLabel('API key for the samples').fill('svc_sk_')
        await page.getByRole('button', { name: 'Use', exact: true }).click()
        await page.getByText('Paste the whole key.').waitFor()
        await page.getByRole('button', { name: 'Create a key for one day' }).click()
        await page.getByText('Sign in to the dashboard first').waitFor()
      },
      { expected: /401/ },
    )
  })
})
