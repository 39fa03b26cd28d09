import { expect, test } from 'vitest'
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
}
