import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resumeWork, pauseWork } from '../../../db/pauses.js'
import { barriersInThemes } from './axe.js'
import { hasBrowser } from './browser.js'
import { openJourney, type Journey } from './journey.js'
import { untilShown } from './people.js'
import type { BrowserContext } from 'playwright-core'

const STACK_MS = 240_000
const JOURNEY_MS = 180_000

const describeWithBrowser = hasBrowser ? describe : describe.skip

describeWithBrowser('dashboard on a whole stack', () => {
  let world: Journey

  beforeAll(async () => {
    world = await openJourney()
  }, STACK_MS)
  afterAll(() => world?.stop(), STACK_MS)

  test(
    'an operator sees processes, pauses and freezes, and opens the workflow of an intent',
    async () => {
      const wallet = await world.createWallet({ 'base-sepolia': '1' })
      const { page, faults } = await world.people.join({ role: 'owner', isOperator: true })
      await page.goto(`${world.host}/dashboard/system`)
      for (const name of ['Chains', 'Senders', 'Treasury']) {
        const rows = page.getByRole('table', { name }).locator('tbody tr')
        await rows.first().waitFor()
        expect(await rows.count()).toBeGreaterThanOrEqual(3)
      }
      await page.getByText('Nothing is paused or frozen.').waitFor()
      const target = { scope: 'wallet' as const, subject: wallet.id }
      await pauseWork(world.db, target, { by: 'alice', why: 'a market looks odd' })
      const stopped = page.getByRole('table', { name: 'Paused and frozen' }).getByRole('row')
      await stopped.filter({ has: page.locator(`[title="${wallet.id}"]`) }).waitFor()
      expect(await stopped.last().innerText()).toMatch(/a market looks odd\s+alice/)
      await resumeWork(world.db, target, { by: 'alice', why: 'it is well' })
      await page.getByText('Nothing is paused or frozen.').waitFor()
      const { id } = await world.create(wallet, {
        action: 'lend',
        amount: 1,
        chain: 'base-sepolia',
      })
      await page.goto(`${world.host}/dashboard/intents/${id}`)
      const href = await page.getByRole('link', { name: 'Workflow' }).getAttribute('href')
      const { temporalNamespace } = world.stack.facts
      expect(href).toMatch(
        new RegExp(`^http://.*/namespaces/${temporalNamespace}/workflows/${id}$`),
      )
      expect(faults).toEqual([])
    },
    JOURNEY_MS,
  )

  test(
    'no page has accessibility violations, in both themes',
    async () => {
      const wallet = await world.createWallet({ 'base-sepolia': '2' })
      const { id } = await world.create(wallet, {
        action: 'lend',
        amount: 1,
        chain: 'base-sepolia',
      })
      await world.untilFinished(id)
      const { page: signedIn } = await world.people.join({ role: 'owner', isOperator: true })
      const storageState = await signedIn.context().storageState()
      const inside = await world.browser.newContext({ bypassCSP: true, storageState })
      const outside = await world.browser.newContext({ bypassCSP: true })
      const invitation = await world.people.invite({ role: 'developer' })
      const paths = [
        ...['', '/intents', `/intents/${id}`, `/intents/new?walletId=${wallet.id}&amount=1`],
        ...['/wallets', `/wallets/${wallet.id}`, '/yields', '/keys', '/credits', '/settings'],
        ...['/requests', '/webhooks', '/system', '/intents/intent_unknown'],
      ]
      const barriers = [
        ...(await barriersOn(outside, [`${world.host}/dashboard/sign-in`, invitation])),
        ...(await barriersOn(
          inside,
          paths.map((path) => `${world.host}/dashboard${path}`),
        )),
      ]
      expect(barriers).toEqual([])
    },
    JOURNEY_MS,
  )
})

async function barriersOn(context: BrowserContext, addresses: string[]): Promise<string[]> {
  const page = await context.newPage()
  const found: string[] = []
  for (const address of addresses) {
    await page.goto(address)
    await untilShown(page)
    const barriers = await barriersInThemes(page)
    found.push(...barriers.map((barrier) => `${address}, ${barrier}`))
  }
  return found
}
