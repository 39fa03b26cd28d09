import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readContents, toPath } from '../../../api/docs/pages/contents.js'
import { barriersInThemes } from '../../clients/dashboard/axe.js'
import { hasBrowser, openBrowser } from '../../clients/dashboard/browser.js'
import { startWorld, type ApiWorld } from '../api.js'
import { createReader, failures, wide, type Read } from './reader.js'
import type { Browser, Page } from 'playwright-core'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const describeWithBrowser = hasBrowser ? describe : describe.skip

let world: ApiWorld
let browser: Browser
let read: Read

const narrow = { width: 375, height: 800 }

describeWithBrowser('the documentation in a browser:', () => {
  beforeAll(async () => {
    world = await startWorld()
    browser = await openBrowser()
    read = createReader(world, browser)
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

    test.each(failures)('reports %s, and the next search succeeds', async (_name, breakDown) => {
      await read(
        '/docs',
        async (page) => {
          await page.route('**/docs/search.json', breakDown, { times: 1 })
          await page.getByRole('searchbox').fill('WALLET_NOT')
          await page.getByText('The search failed.').waitFor()
          await page.getByRole('searchbox').fill('WALLET_NOT_FOUND')
          await page.getByRole('link', { name: /^WALLET_NOT_FOUND/ }).waitFor()
        },
        { expected: /503|ERR_FAILED/ },
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
