import { inviteMember } from '../../db/tenants/invitations.js'
import { watch } from './browser.js'
import type { Browser, Page } from 'playwright-core'
import type { Db } from '../../db/connection/connect.js'
import type { Role } from '../../domain/roles.js'

const PASSWORD = 'four words and a number 7'
const PATIENCE_MS = 30_000

export type Visit = { page: Page; faults: string[] }
export type Newcomer = { email: string; role: Role; accountId?: string; isOperator?: boolean }

/** Whoever looks at the dashboard of a service, each with a browser window of his own. */
export function createPeople(browser: Browser, { host, db }: { host: string; db: Db }) {
  async function open(): Promise<Visit> {
    const page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    return { page, faults: watch(page, host) }
  }

  /** The account that was there first. */
  async function firstAccount(): Promise<string> {
    const account = await db('account').orderBy('created_at').first<{ id: string }>('id')
    return account.id
  }

  /** The address of a link by which somebody joins. */
  async function invite({ accountId, ...newcomer }: Newcomer): Promise<string> {
    const invitation = { accountId: accountId ?? (await firstAccount()), ...newcomer }
    const { token } = await db.transaction((trx) => inviteMember(trx, invitation))
    return `${host}/dashboard/invitations/${token}`
  }

  return {
    open,
    invite,

    /** Somebody new, who has come by a link and stands on the first page. */
    async join(newcomer: Newcomer): Promise<Visit> {
      const visit = await open()
      await visit.page.goto(await invite(newcomer))
      await visit.page.getByLabel('Name').fill(newcomer.role)
      await visit.page.getByLabel('Password').fill(PASSWORD)
      await visit.page.getByRole('button', { name: 'Join' }).click()
      await visit.page.getByRole('heading', { name: 'Overview' }).waitFor()
      return visit
    },

    /** Somebody who has joined already, on the page that he wanted. */
    async signIn(email: string, path: string): Promise<Visit> {
      const visit = await open()
      await visit.page.goto(`${host}/dashboard${path}`)
      await visit.page.getByLabel('E-mail').fill(email)
      await visit.page.getByLabel('Password').fill(PASSWORD)
      await visit.page.getByRole('button', { name: 'Sign in' }).click()
      await visit.page.locator('#main').waitFor()
      // Whether he is signed in was asked before he was: that refusal is no fault.
      visit.faults.length = 0
      return visit
    },
  }
}

/** Waits until a page shows what it has asked for. */
export async function untilShown(page: Page): Promise<void> {
  await page.locator('h1, [role=alert]').first().waitFor()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}
