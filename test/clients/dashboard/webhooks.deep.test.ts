import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { startReceiver, type Receiver } from '../../activities/webhooks/receiver.js'
import { startWebhookWorld, type WebhookWorld } from '../../activities/webhooks/world.js'
import { barriersInThemes } from './axe.js'
import { hasBrowser } from './browser.js'
import { openPages, ownFaults, type PageWorld } from './pageWorld.js'
import { untilShown } from './people.js'

const START_MS = 180_000
const TEST_MS = 120_000

const describeWithBrowser = hasBrowser ? describe : describe.skip

describeWithBrowser('dashboard webhooks', () => {
  let hooks: WebhookWorld
  let pages: PageWorld
  let receiver: Receiver

  beforeAll(async () => {
    hooks = await startWebhookWorld()
    pages = await openPages(hooks.world)
    await hooks.deliver({ retryDelayMs: () => 50 })
  }, START_MS)
  afterAll(async () => {
    await pages?.browser.close()
    await receiver?.stop()
    await hooks?.stop()
  }, START_MS)

  test(
    'creates, tests, resends to, rotates, disables and deletes an endpoint',
    async () => {
      receiver = await startReceiver((count) => ({
        status: count === 1 ? 500 : 200,
        text: `answer ${count}`,
      }))
      const owner = await pages.newPerson()
      const { page, faults } = await pages.open(owner)
      const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
      const choose = async (name: string) => {
        await press('Actions for this endpoint')
        await page.getByRole('menuitem', { name }).click()
      }
      const found: string[] = []
      const look = async () => void found.push(...(await barriersInThemes(page)))

      // The empty page shows how a receiver verifies webhooks.
      await page.goto(`${pages.host}/dashboard/webhooks`)
      await page.getByText('Steward.webhooks.verify').waitFor()
      await look()

      await press('New endpoint')
      await page.getByLabel('URL').fill('http://10.0.0.1/hook')
      await press('Create endpoint')
      await page.getByRole('alert').waitFor()
      await page.getByLabel('URL').fill(receiver.url)
      await page.getByLabel('Events').selectOption('some')
      await look()
      await press('Create endpoint')
      const shown = page.getByRole('dialog').locator('pre').first()
      await page.getByText('I have copied it').waitFor()
      const secret = (await shown.innerText()).trim()
      expect(secret).toMatch(/^whsec_/)
      await press('I have copied it')
      await page.waitForURL('**/dashboard/webhooks/wh_*')
      expect(await page.content()).not.toContain(secret)

      // A test event arrives with a valid signature. The page shows both attempts and their responses.
      await press('Send a test event')
      await page.getByText('200, 2 attempts').waitFor()
      const [first] = await receiver.until(2)
      if (!first) throw new Error('No webhook received.')
      const verified = new Webhook(secret).verify(first.text, first.headers as never)
      expect(verified).toMatchObject({ type: 'webhook.test' })
      await page.getByRole('link', { name: 'webhook.test' }).click()
      const attempts = page.getByRole('list', { name: 'Attempts' })
      await attempts.getByText('answer 2').waitFor()
      expect(await attempts.innerText()).toMatch(/500\s*The status is not 2xx/)
      await look()
      await press('Send again')
      await attempts.getByText('answer 3').waitFor()
      expect(receiver.received).toHaveLength(3)
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      await page.keyboard.press('Escape')

      // Both secrets sign now.
      await choose('Rotate secret')
      await press('Create new secret')
      await page.getByText('I have copied it').waitFor()
      const next = (await shown.innerText()).trim()
      await press('I have copied it')
      await press('Send a test event')
      const { text, headers } = (await receiver.until(4))[3] ?? {}
      for (const one of [secret, next]) new Webhook(one).verify(text ?? '', headers as never)

      await choose('Disable')
      await press('Disable')
      await page.getByText('A member of this account disabled the endpoint.').waitFor()
      await look()
      const row = () => pages.db('webhook').where({ account_id: owner.accountId }).first('status')
      expect(await row()).toEqual({ status: 'disabled' })
      await page.getByRole('link', { name: 'webhook.test' }).first().click()
      await page.getByText('Enable the endpoint to send this event again.').waitFor()
      expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0)
      await page.keyboard.press('Escape')
      await press('Enable')
      await page.getByText('Enabled', { exact: true }).waitFor()
      expect(await row()).toEqual({ status: 'enabled' })

      await choose('Delete')
      await press('Delete endpoint')
      await page.getByText('No endpoints yet').waitFor()
      expect(found).toEqual([])
      // The only browser errors are those of the rejected URL.
      expect(ownFaults(faults).filter((fault) => !fault.includes(' 400 '))).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a viewer reads endpoints and sees no forbidden action',
    async () => {
      const owner = await pages.newPerson()
      const { cookie, accountId } = owner
      const body = { url: 'http://127.0.0.1:9/hook', description: 'Ledger' }
      const made = await pages.pages('POST', '/webhooks', { cookie, body })
      const viewer = await pages.newPerson({ accountId, role: 'viewer' })
      const { page, faults } = await pages.open(viewer)
      await page.goto(`${pages.host}/dashboard/webhooks`)
      await page.getByRole('link', { name: body.url }).click()
      await page.waitForURL(`**/webhooks/${made.body.id}`)
      await untilShown(page)
      await page.getByText('No deliveries yet').waitFor()
      expect(
        await page.getByRole('button', { name: /test event|Actions for|Disable/ }).count(),
      ).toBe(0)
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )
})
