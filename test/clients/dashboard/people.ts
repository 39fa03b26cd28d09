import { inviteMember } from '../../../db/accounts/invitations.js'
import { watch } from './browser.js'
import type { Browser, Page } from 'playwright-core'
import type { Db } from '../../../db/client/connect.js'
import type { Role } from '../../../domain/roles.js'

const PASSWORD = 'four words and a number 7'
const PATIENCE_MS = 30_000

type BrowserVisit = { page: Page; faults: string[] }
export type Newcomer = { email: string; role: Role; accountId?: string; isOperator?: boolean }

/** Users of a dashboard, each with their own browser window. */
export function createPeople(browser: Browser, { host, db }: { host: string; db: Db }) {
  async function open(): Promise<BrowserVisit> {
    const page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    return { page, faults: watch(page, host) }
  }

  /** The oldest account. */
  async function firstAccount(): Promise<string> {
    const account = await db('account').orderBy('created_at').first<{ id: string }>('id')
    return account.id
  }

  /** The URL of a new invitation. */
  async function invite({ accountId, ...newcomer }: Newcomer): Promise<string> {
    const invitation = { accountId: accountId ?? (await firstAccount()), ...newcomer }
    const { token } = await db.transaction((trx) => inviteMember(trx, invitation))
    return `${host}/dashboard/invitations/${token}`
  }

  return {
    invite,

    /** Joins by invitation and opens the overview. */
    async join(newcomer: Newcomer): Promise<BrowserVisit> {
      const visit = await open()
      await visit.page.goto(await invite(newcomer))
      await visit.page.getByLabel('Name').fill(newcomer.role)
      await visit.page.getByLabel('Password').fill(PASSWORD)
      await visit.page.getByRole('button', { name: 'Join' }).click()
      await visit.page.getByRole('heading', { name: 'Overview' }).waitFor()
      return visit
    },
  }
}

/** Waits until the page has loaded its data. */
export async function untilShown(page: Page): Promise<void> {
  await page.locator('h1, [role=alert]').first().waitFor()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}
