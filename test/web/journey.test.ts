import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { inviteMember } from '../../db/tenants/invitations.js'
import { startWorld, type World } from '../e2e/world.js'
import { hasBrowser, openBrowser, watch } from './browser.js'
import type { Browser, Page } from 'playwright-core'
import type { Role } from '../../domain/roles.js'

const STACK_MS = 240_000
const JOURNEY_MS = 180_000
const PASSWORD = 'four words and a number 7'

const describeWithBrowser = hasBrowser ? describe : describe.skip

describeWithBrowser('the dashboard in a browser', () => {
  let world: World
  let browser: Browser
  let host: string

  beforeAll(async () => {
    world = await startWorld()
    host = world.stack.facts.hostUrl
    browser = await openBrowser()
  }, STACK_MS)

  afterAll(async () => {
    await browser?.close()
    await world?.stop()
  }, STACK_MS)

  /** A page of somebody new who has come by a link. */
  async function join(email: string, role: Role): Promise<{ page: Page; faults: string[] }> {
    const account = await world.db('account').orderBy('created_at').first<{ id: string }>('id')
    const invitation = { accountId: account.id, role, email }
    const { token } = await world.db.transaction((trx) => inviteMember(trx, invitation))
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    const faults = watch(page, host)
    await page.goto(`${host}/dashboard/invitations/${token}`)
    await page.getByLabel('Name').fill(role)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    return { page, faults }
  }

  test(
    'from an invitation to a lend that completes before the eyes of its maker',
    async () => {
      const wallet = await world.createWallet({ 'arbitrum-sepolia': '2' })
      const { page, faults } = await join('owner@example.com', 'owner')

      // A key, shown once, that the API takes.
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name').fill('journey')
      await page.getByRole('button', { name: 'Create key' }).click()
      const shown = page.getByRole('dialog').locator('pre').first()
      const key = (await shown.innerText()).trim()
      expect(key).toMatch(/^svc_sk_/)
      const asked = await fetch(`${host}/v1/yields`, {
        headers: { authorization: `Bearer ${key}` },
      })
      expect(asked.status).toBe(200)
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('cell', { name: 'journey', exact: true }).waitFor()
      expect(await page.content()).not.toContain(key)

      // A lend from the form: the plan stands beside it, and the button says what it will do.
      await page.goto(`${host}/dashboard/intents/new?walletId=${wallet.id}`)
      await page.getByLabel('Amount of USDC').fill('1')
      await page.getByText('What would happen').waitFor()
      const lend = page.getByRole('button', { name: /^Lend 1 USDC on Base Sepolia$/ })
      await lend.waitFor()
      // A reload would forget this.
      await page.evaluate('window.isSamePage = true')
      await lend.click()
      await page.getByText('Completed', { exact: true }).first().waitFor()
      await page.getByText(/^Lent 0\.\d+ USDC on Base Sepolia/).waitFor()
      expect(await page.evaluate('window.isSamePage')).toBe(true)
      for (const part of [/^Burn/, /^Attestation/, /^Mint/]) {
        expect(await page.getByRole('listitem').getByText(part).count()).toBe(1)
      }

      // What the page says is what the service has stored.
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
      const row = await world.db('intent').where({ id }).first<{ status: string }>('status')
      expect(row.status).toBe('completed')
      expect(faults).toEqual([])
    },
    JOURNEY_MS,
  )

  test(
    'a viewer reads, and is offered nothing that he may not do',
    async () => {
      const { page, faults } = await join('viewer@example.com', 'viewer')
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0)
      const status = await page.evaluate(async () => {
        const order = { method: 'POST', body: '{"name":"mine","scopes":["read"]}' }
        const headers = { 'content-type': 'application/json' }
        return (await fetch('/dashboard/api/keys', { ...order, headers })).status
      })
      expect(status).toBe(403)
      expect(faults.filter((fault) => !fault.includes('403'))).toEqual([])
    },
    JOURNEY_MS,
  )

  test(
    'who is not signed in is asked to, and then comes to where he wanted to go',
    async () => {
      const page = await browser.newPage()
      await page.goto(`${host}/dashboard/intents?status=completed`)
      await page.getByLabel('E-mail').fill('owner@example.com')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Intents' }).waitFor()
      expect(new URL(page.url()).search).toBe('?status=completed')
      // By the keyboard alone: the first row, and in.
      await page.locator('a[data-row]').first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByText('Steps', { exact: true }).waitFor()
      expect(page.url()).toMatch(/\/dashboard\/intents\/intent_/)
    },
    JOURNEY_MS,
  )

  test(
    'who wants to know what was asked, and what it cost, finds it from anywhere',
    async () => {
      const wallet = await world.createWallet({})
      const { page, faults } = await join('developer@example.com', 'developer')

      // By the keyboard alone, from any page: an id is typed, and its page is there.
      await page.keyboard.press('/')
      await page.keyboard.type(wallet.id)
      await page.getByRole('list', { name: 'Found' }).getByText(wallet.id).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/wallets/${wallet.id}`)

      // The call that made it: found by what it was about, its facts lead back to the wallet.
      await page.goto(`${host}/dashboard/requests?resourceId=${wallet.id}`)
      await page.getByRole('link', { name: /^POST .*\/wallets$/ }).click()
      const facts = page.getByRole('dialog', { name: 'Request' })
      await facts.getByText('Id', { exact: true }).waitFor()
      expect(await facts.locator(`a[href$="/wallets/${wallet.id}"]`).count()).toBe(1)
      const requestId = new URL(page.url()).searchParams.get('open') ?? ''
      await page.keyboard.press('Escape')
      await facts.waitFor({ state: 'detached' })

      // What it cost, as a row that is stored, and as a file.
      await page.getByRole('link', { name: 'Usage & credits' }).click()
      await page.getByRole('table', { name: 'By endpoint' }).waitFor()
      const entry = page.getByRole('row').filter({ has: page.locator(`[title="${requestId}"]`) })
      await entry.getByText('−1', { exact: true }).waitFor()
      const link = page.getByRole('link', { name: 'Ledger as CSV' })
      const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
      expect(file.suggestedFilename()).toBe('ledger.csv')
      expect(faults).toEqual([])
    },
    JOURNEY_MS,
  )
})
