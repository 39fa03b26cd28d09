import { expect, test } from 'vitest'
import { newId } from '../../../../db/client/ids.js'
import { ownFaults, type PageWorld } from '../pageWorld.js'
import { untilShown } from '../people.js'
import type { Page } from 'playwright-core'

const TEST_MS = 60_000

export function testOwnWrites(world: () => PageWorld): void {
  const namesOf = (page: Page) => page.locator('tbody a[data-row]').allInnerTexts()

  /** Rolls the newest key with this name by its menu. The focus returns into the list, which therefore is in use. */
  async function roll(page: Page, name: string) {
    await page
      .getByRole('button', { name: `Actions for key ${name}` })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Roll' }).click()
    await page.getByRole('button', { name: /^Roll key …/ }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
  }

  test(
    'a rolled key is listed at once, while keys of other members wait behind the button',
    async () => {
      const person = await world().newPerson()
      const { cookie } = person
      const make = (name: string) =>
        world().pages('POST', '/keys', { cookie, body: { name, scopes: ['read'] } })
      await make('backend')
      const { page, faults } = await world().open(person)
      await page.goto(`${world().host}/dashboard/keys`)
      await untilShown(page)
      await roll(page, 'backend')
      await page.locator('tbody tr').nth(1).waitFor()
      expect(await namesOf(page)).toEqual(['backend', 'backend'])
      expect(await page.getByRole('button', { name: / new$/ }).count()).toBe(0)
      // The old key ends in a day, and the new one does not.
      await page.setViewportSize({ width: 1280, height: 900 })
      expect(await page.getByRole('cell', { name: /^in 24 h$/ }).count()).toBe(1)

      await make('of another')
      await roll(page, 'backend')
      await page.getByRole('button', { name: '1 new' }).waitFor()
      expect(await namesOf(page)).toEqual(['backend', 'backend', 'backend'])
      await page.getByRole('button', { name: '1 new' }).click()
      expect(await namesOf(page)).toEqual(['backend', 'of another', 'backend', 'backend'])
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a new invitation is listed at once',
    async () => {
      const person = await world().newPerson()
      const body = { email: 'first@example.com', role: 'viewer' }
      await world().pages('POST', '/members/invite', { cookie: person.cookie, body })
      const { page, faults } = await world().open(person)
      await page.goto(`${world().host}/dashboard/settings`)
      const pending = page.getByRole('table', { name: 'Pending invitations' })
      await pending.getByText(body.email).waitFor()
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('E-mail').fill('second@example.com')
      await page.getByRole('button', { name: 'Create link' }).click()
      await pending.getByText('second@example.com').waitFor()
      expect(await page.getByRole('button', { name: / new$/ }).count()).toBe(0)
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  /** Opens an endpoint with 20 deliveries and scrolls, so that the list is in use. */
  async function openDeliveries() {
    const person = await world().newPerson()
    const hook = { id: newId('wh_'), account_id: person.accountId, url: 'https://x.example' }
    await world().db('webhook').insert(hook)
    const rows = Array.from({ length: 20 }, (_, at) => ({
      ...{ webhook_id: hook.id, account_id: person.accountId, event_id: 1_000_000 + at },
      ...{ type: 'wallet.created', status: 'delivered', next_attempt_at: null },
    }))
    await world().db('webhook_delivery').insert(rows)
    const { page, faults } = await world().open(person)
    await page.goto(`${world().host}/dashboard/webhooks/${hook.id}`)
    await page.locator('tbody tr').nth(15).scrollIntoViewIfNeeded()
    await page.mouse.wheel(0, 400)
    await page.waitForFunction(`document.querySelector('tbody').getBoundingClientRect().top < -50`)
    return { person, hook, page, faults }
  }

  test(
    'a test delivery is listed at once, while those of other members wait behind the button',
    async () => {
      const { person, hook, page, faults } = await openDeliveries()
      const { cookie } = person
      await world().pages('POST', `/webhooks/${hook.id}/test`, { cookie })
      const sent = page.waitForResponse(`**/webhooks/${hook.id}/test`)
      await page.getByRole('button', { name: 'Send a test event' }).dispatchEvent('click')
      const { id } = (await (await sent).json()) as { id: string }
      await page.getByRole('button', { name: '1 new' }).waitFor()
      expect(await page.locator('tbody a[data-row]').first().getAttribute('href')).toContain(id)
      const tests = page.locator('tbody').getByText('webhook.test')
      expect(await tests.count()).toBe(1)
      await page.getByRole('button', { name: '1 new' }).click()
      await tests.nth(1).waitFor()
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a delivery that is sent again is pending at once, in its row and its facts',
    async () => {
      const { page, faults } = await openDeliveries()
      const row = page.locator('tbody tr').nth(15)
      await row.getByRole('link').click()
      const facts = page.getByRole('dialog')
      await facts.getByText('Delivered').waitFor()
      await facts.getByRole('button', { name: 'Send again' }).click()
      await facts.getByText('Pending').waitFor()
      await page.keyboard.press('Escape')
      await row.getByText('Pending').waitFor()
      expect(await page.locator('tbody').getByText('Pending').count()).toBe(1)
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )
}
