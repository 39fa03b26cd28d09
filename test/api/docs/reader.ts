import { expect } from 'vitest'
import { watch } from '../../clients/dashboard/browser.js'
import type { ApiWorld } from '../api.js'
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core'

export const wide = { width: 1280, height: 900 }

type Window = BrowserContextOptions & {
  /** Faults of a browser without a session, or of a service that fails. */
  expected?: RegExp
}

export type Read = (
  path: string,
  use: (page: Page) => Promise<void>,
  window?: Window,
) => Promise<void>

/** A window whose pages have reported no error and requested nothing from elsewhere when it is closed. */
export const createReader =
  ({ api: { url } }: ApiWorld, browser: Browser): Read =>
  async (path, use, { expected = /^$/, ...more } = {}) => {
    const context = await browser.newContext({ baseURL: url, viewport: wide, ...more })
    const page = await context.newPage()
    const faults = watch(page, url)
    await page.goto(path)
    await use(page)
    await context.close()
    expect(faults.filter((fault) => !expected.test(fault))).toEqual([])
  }

/** How a request of a page fails. */
export const failures: [name: string, fail: (route: Route) => Promise<void>][] = [
  ['an error of the service', (route) => route.fulfill({ status: 503, body: 'down' })],
  ['a lost connection', (route) => route.abort()],
]
