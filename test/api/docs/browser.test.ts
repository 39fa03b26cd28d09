import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readContents, toPath } from '../../../api/docs/pages/contents.js'
import { barriersInThemes } from '../../clients/dashboard/axe.js'
import { hasBrowser, openBrowser, watch } from '../../clients/dashboard/browser.js'
import { newPerson, pagesOf } from '../dashboard/people.js'
import { startWorld, type ApiWorld } from '../api.js'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const describeWithBrowser = hasBrowser ? describe : describe.skip

let world: ApiWorld
let browser: Browser

const wide = { width: 1280, height: 900 }
const narrow = { width: 375, height: 800 }

type Window = BrowserContextOptions & {
  /** Faults of a browser without a session. */
  expected?: RegExp
}

/** A window whose pages have reported no error and requested nothing from elsewhere when it is closed. */
async function read(
  path: string,
  use: (page: Page) => Promise<void>,
  { expected = /^$/, ...more }: Window = {},
) {
  const { url } = world.api
  const context = await browser.newContext({ baseURL: url, viewport: wide, ...more })
  const page = await context.newPage()
  const faults = watch(page, url)
  await page.goto(path)
  await use(page)
  await context.close()
  expect(faults.filter((fault) => !expected.test(fault))).toEqual([])
}

describeWithBrowser('the documentation in a browser:', () => {
  beforeAll(async () => {
    world = await startWorld()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.stop()
  })

  const paths = readContents('docs').flatMap(({ pages }) => pages.map(toPath))
  /** An index, tabs, tables and long words, diagrams. */
  const kinds = ['/docs', '/docs/quickstart', '/docs/reference/configuration', '/docs/architecture']

  test.each([narrow, wide])(
    'each kind of page is accessible in both themes, $width px wide',
    async (viewport) => {
      for (const path of kinds) {
        const look = async (page: Page) => expect(await barriersInThemes(page), path).toEqual([])
        await read(path, look, { viewport, bypassCSP: true })
      }
    },
  )

  test('every page fits a narrow screen, without an error, and loads nothing from elsewhere', async () => {
    await read(
      '/docs/api',
      async (page) => {
        for (const path of paths) {
          await page.goto(path)
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          expect(overflow, path).toBeLessThanOrEqual(0)
        }
      },
      { viewport: narrow },
    )
  })

  describe('tabs', () => {
    const selected = (page: Page) => page.getByRole('tab', { selected: true }).first().textContent()

    test('show one language, the keyboard moves between them, and the choice holds on other pages', async () => {
      await read('/docs/quickstart', async (page) => {
        expect(await selected(page)).toBe('curl')
        await page.getByRole('tab', { name: 'curl' }).first().focus()
        await page.keyboard.press('ArrowRight')
        expect(await selected(page)).toBe('TypeScript')
        const panel = page.getByRole('tabpanel', { name: 'TypeScript' }).first()
        expect(await panel.textContent()).toContain("from '@steward/sdk'")
        expect(await page.getByRole('tabpanel', { name: 'Python' }).count()).toBe(0)
        await page.keyboard.press('End')
        expect(await selected(page)).toBe('Python')
        await page.goto('/docs/guides/errors')
        expect(await selected(page)).toBe('Python')
      })
    })

    test('without scripts all languages follow each other', async () => {
      await read(
        '/docs/quickstart',
        async (page) => {
          for (const label of ['curl', 'TypeScript', 'Python']) {
            expect(await page.getByText(label, { exact: true }).first().isVisible()).toBe(true)
          }
        },
        { javaScriptEnabled: false },
      )
    })
  })

  test('each block of code has a button that copies what is printed', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    await read(
      '/docs/quickstart',
      async (page) => {
        expect(await page.locator('.copy').count()).toBe(await page.locator('pre').count())
        await page.getByRole('button', { name: 'Copy' }).first().click()
        await page.getByRole('button', { name: 'Copied' }).waitFor()
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm start')
      },
      { permissions },
    )
  })

  describe('search', () => {
    test('finds a section with the keyboard alone', async () => {
      await read('/docs', async (page) => {
        await page.keyboard.press('/')
        await page.keyboard.type('WALLET_NOT_FOUND')
        await page.getByRole('link', { name: /^WALLET_NOT_FOUND/ }).waitFor()
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await page.waitForURL('**/docs/reference/errors#WALLET_NOT_FOUND')
      })
    })

    test('leads to an operation, also from one operation to the next', async () => {
      await read('/docs/guides/errors', async (page) => {
        for (const [words, operation] of [
          ['POST /v1/intents/{intentId}/cancel', 'Cancel an intent'],
          ['GET /v1/yields/history', 'Get past APYs'],
        ] as const) {
          await page.getByRole('searchbox').fill(words)
          await page.getByRole('link', { name: words }).first().click()
          await page.locator('.opblock.is-open', { hasText: operation }).waitFor()
        }
      })
    })

    test('reports that nothing was found, and Escape leaves', async () => {
      await read('/docs', async (page) => {
        await page.getByRole('searchbox').fill('zebra')
        await page.getByText('Nothing found for “zebra”').waitFor()
        await page.keyboard.press('Escape')
        expect(await page.locator('#results').isVisible()).toBe(false)
        expect(await page.getByRole('searchbox').inputValue()).toBe('')
      })
    })
  })

  describe("the reader's key", () => {
    const code = (page: Page) => page.locator('pre').allTextContents()
    const open = (page: Page) => page.locator('#key-open').click()

    test('the address of this service is in every sample, and the key once it is pasted', async () => {
      await read('/docs/guides/mcp', async (page) => {
        const url = `${world.api.url}/mcp`
        const printed = (await code(page)).join('\n')
        expect(printed).toContain(`steward ${url} --header "Authorization: Bearer svc_sk_…"`)
        expect(printed).not.toContain('steward.example')
        await open(page)
        await page.getByLabel('API key for the samples').fill('svc_sk_0123')
        await page.getByRole('button', { name: 'Use', exact: true }).click()
        const filled = (await code(page)).join('\n')
        expect(filled).toContain(`steward ${url} --header "Authorization: Bearer svc_sk_0123"`)
        expect(filled).not.toMatch(/svc_sk_…|\$STEWARD_API_KEY/)
        expect(page.url()).not.toContain('0123')
        await page.reload()
        expect((await code(page)).join('\n')).toBe(filled)
        await open(page)
        await page.getByRole('button', { name: 'Remove the key' }).click()
        expect((await code(page)).join('\n')).toBe(printed)
      })
    })

    test('a signed-in reader creates a key for one day, the API page uses it, and sign-out removes it', async () => {
      const { cookie, accountId } = await newPerson(world)
      const [name = '', value = ''] = cookie.split('=')
      const { hostname: domain } = new URL(world.api.url)
      await read(
        '/docs/quickstart',
        async (page) => {
          const context = page.context()
          await context.addCookies([{ name, value, domain, path: '/dashboard', httpOnly: true }])
          await open(page)
          await page.getByRole('button', { name: 'Create a key for one day' }).click()
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

  test('on a narrow screen a button opens the list of all pages', async () => {
    await read(
      '/docs',
      async (page) => {
        const link = page.locator('#contents').getByRole('link', { name: 'Quickstart' })
        expect(await link.isVisible()).toBe(false)
        await page.getByRole('button', { name: 'All pages' }).click()
        await link.click()
        await page.waitForURL('**/docs/quickstart')
      },
      { viewport: narrow },
    )
  })

  test('the theme that the dashboard stores applies to guides and API', async () => {
    await read('/docs', async (page) => {
      await page.evaluate("localStorage.setItem('theme', 'dark')")
      for (const path of ['/docs', '/docs/api']) {
        await page.goto(path)
        const colour = await page.evaluate<string>(
          'getComputedStyle(document.body).backgroundColor',
        )
        expect(colour).toBe('rgb(16, 19, 24)')
      }
    })
  })
})
