import { buildBeside } from '../../dev/parts/dashboard.js'
import { startWorld, type World } from '../api/api.js'
import { newPerson, pagesOf, type Person } from '../api/dashboard/people.js'
import { openBrowser, watch } from './browser.js'
import type { BrowserContext, Page } from 'playwright-core'

const PATIENCE_MS = 20_000

export type PageWorld = Awaited<ReturnType<typeof startPageWorld>>
/** A window of somebody who is signed in. */
export type Window = { page: Page; faults: string[]; context: BrowserContext }

/** The built pages, served by an API that has a database and no chain that answers: for what needs none. */
export async function startPageWorld() {
  return openPages(await startWorld(undefined, { keepsRequests: true }))
}

/** The pages of an API, and a browser for them. */
export async function openPages(world: World) {
  await buildBeside()
  const browser = await openBrowser()
  const host = world.api.url
  return {
    ...{ world, browser, host, db: world.database.db, pages: pagesOf(world) },
    newPerson: (options?: Parameters<typeof newPerson>[1]) => newPerson(world, options),

    /** A window of theirs, where rules of accessibility may be run: those are a script of their own. */
    async open({ cookie }: Person): Promise<Window> {
      const [name = '', value = ''] = cookie.split('=')
      const context = await browser.newContext({ bypassCSP: true })
      const { hostname: domain } = new URL(host)
      await context.addCookies([{ name, value, domain, path: '/dashboard', httpOnly: true }])
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      return { page, context, faults: watch(page, host) }
    },

    async stop() {
      await browser.close()
      await world.stop()
    },
  }
}

/** A wallet of somebody, made by the API. */
export async function makeWallet(
  { pages }: Pick<PageWorld, 'pages'>,
  { cookie, accountId }: Person,
  userId: string,
) {
  const { body } = await pages('POST', '/wallets', { cookie, body: { userId } })
  return { id: body.id, accountId, address: String(body.address), requestId: 'req_test' }
}

/** What a page did amiss; that no chain answers here is not its fault. */
export const ownFaults = (faults: readonly string[]) =>
  faults.filter((fault) => !fault.includes('503'))
