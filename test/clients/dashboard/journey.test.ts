import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser } from './browser.js'
import { openJourney, type Journey } from './journey.js'
import type { Page } from 'playwright-core'

const STACK_MS = 240_000
const JOURNEY_MS = 180_000

const describeWithBrowser = hasBrowser ? describe : describe.skip

describeWithBrowser('dashboard', () => {
  let world: Journey

  beforeAll(async () => {
    world = await openJourney()
  }, STACK_MS)
  afterAll(() => world?.stop(), STACK_MS)

  /** Calls the API with a key. */
  const askWith = (key: string) =>
    fetch(`${world.host}/v1/yields`, { headers: { authorization: `Bearer ${key}` } })

  const untilListed = (page: Page, name: string) =>
    page.getByRole('cell', { name, exact: true }).waitFor()

  test(
    'from an invitation to a completed lend, live',
    async () => {
      const wallet = await world.createWallet({ 'arbitrum-sepolia': '2' })
      const { page, faults } = await world.people.join({ role: 'owner' })

      // A new key is shown once, and the API accepts it.
      await page.getByRole('link', { name: 'API keys', exact: true }).click()
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name').fill('journey')
      await page.getByRole('button', { name: 'Create key' }).click()
      const shown = page.getByRole('dialog').locator('pre').first()
      const key = (await shown.innerText()).trim()
      expect(key).toMatch(/^svc_sk_/)
      expect((await askWith(key)).status).toBe(200)
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await untilListed(page, 'journey')
      expect(await page.content()).not.toContain(key)

      // The API rejects the revoked key.
      await page.getByRole('button', { name: 'Actions for key journey' }).click()
      await page.getByRole('menuitem', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: `Revoke key …${key.slice(-4)}` }).click()
      await page.getByText('Revoked', { exact: true }).waitFor()
      expect((await askWith(key)).status).toBe(401)

      // The form shows the plan, and the button names the action.
      await page.goto(`${world.host}/dashboard/intents/new?walletId=${wallet.id}`)
      await page.getByLabel('Amount of USDC').fill('1')
      await page.getByText('What would happen').waitFor()
      const lend = page.getByRole('button', { name: /^Lend 1 USDC on Base Sepolia$/ })
      await lend.waitFor()
      // A reload would lose this variable.
      await page.evaluate('window.isSamePage = true')
      const before = await creditsOf(page)
      await lend.click()
      await page.getByText('Completed', { exact: true }).first().waitFor()
      await page.getByText(/^Lent 0\.\d+ USDC on Base Sepolia/).waitFor()
      expect(await page.evaluate('window.isSamePage')).toBe(true)
      expect(before - (await creditsOf(page))).toBe(5)
      for (const part of [/^Burn/, /^Attestation/, /^Mint/]) {
        expect(await page.getByRole('listitem').getByText(part).count()).toBe(1)
      }

      // The page matches the stored row.
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
      const row = await world.db('intent').where({ id }).first<{ status: string }>('status')
      expect(row.status).toBe('completed')
      expect(faults).toEqual([])
    },
    JOURNEY_MS,
  )
})

/** The credits left, from the dashboard API. */
const creditsOf = (page: Page) =>
  page.evaluate(async () => {
    const answer = await fetch('/dashboard/api/credits')
    return ((await answer.json()) as { balance: number }).balance
  })
