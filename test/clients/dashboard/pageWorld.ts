import { buildBeside } from '../../../dev/stack/dashboard.js'
import { startWorld, type ApiWorld } from '../../api/api.js'
import { newPerson, pagesOf, type Person } from '../../api/dashboard/people.js'
import { openBrowser, watch } from './browser.js'
import type { BrowserContext, Page } from 'playwright-core'

const PATIENCE_MS = 20_000

export type PageWorld = Awaited<ReturnType<typeof startPageWorld>>
/** A browser window of a signed-in user. */
type UserWindow = { page: Page; faults: string[]; context: BrowserContext }

export const TEMPORAL_UI = 'https://temporal.example'

/** The built pages, served by an API with a database and without chains. */
export async function startPageWorld() {
  const dashboard = { temporalUi: TEMPORAL_UI }
  return openPages(await startWorld(undefined, { keepsRequests: true, dashboard }))
}

/** The pages of an API, with a browser. */
export async function openPages(world: ApiWorld) {
  await buildBeside()
  const browser = await openBrowser()
  const host = world.api.url
  return {
    ...{ world, browser, host, db: world.database.db, pages: pagesOf(world) },
    newPerson: (options?: Parameters<typeof newPerson>[1]) => newPerson(world, options),

    /** Opens a window of a user, without the content security policy, so that the accessibility rules can be injected. */
    async open({ cookie }: Person): Promise<UserWindow> {
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

/** Creates a wallet through the API. */
export async function makeWallet(
  { pages }: Pick<PageWorld, 'pages'>,
  { cookie, accountId }: Person,
  userId: string,
) {
  const { body } = await pages('POST', '/wallets', { cookie, body: { userId } })
  return { id: body.id, accountId, address: String(body.address), requestId: 'req_test' }
}

/** The faults of a page, without the expected 503 of the missing chains. */
export const ownFaults = (faults: readonly string[]) =>
  faults.filter((fault) => !fault.includes('503'))
