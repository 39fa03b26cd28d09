import { expect, test } from 'vitest'
import { untilShown } from '../people.js'
import type { PageWorld } from '../pageWorld.js'

const TEST_MS = 60_000

/** The colours of every element now and after 60 frames. */
const COLOURS = `(async () => {
  const all = [...document.querySelectorAll('body, body *')]
  const look = () =>
    all.map((one) => {
      const { color, backgroundColor, borderColor } = getComputedStyle(one)
      return [one.tagName, color, backgroundColor, borderColor].join(' ')
    })
  const atOnce = look()
  for (let frames = 0; frames < 60; frames++) await new Promise(requestAnimationFrame)
  return { atOnce, later: look() }
})()`

export function testTheme(world: () => PageWorld): void {
  test(
    'without storage in the browser the pages work, and a choice lasts as long as the page',
    async () => {
      const { page, faults } = await world().open(await world().newPerson())
      await page.addInitScript(
        `Object.defineProperty(window, 'localStorage', { get() { throw new Error('disabled') } })`,
      )
      await page.goto(`${world().host}/dashboard/webhooks`)
      await untilShown(page)
      await page.keyboard.press('?')
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await help.getByRole('switch', { name: 'Single-key shortcuts' }).click()
      await help.getByRole('button', { name: 'Close' }).click()
      await page.keyboard.press('?')
      expect(await help.count()).toBe(0)
      await page.getByRole('button', { name: 'test', exact: true }).click()
      await page.getByRole('menuitemradio', { name: 'Dark' }).click()
      await page.locator('html[data-theme=dark]').waitFor()
      expect(faults).toEqual([])
    },
    TEST_MS,
  )

  test(
    'with reduced motion a theme change applies to every element at once',
    async () => {
      const { page } = await world().open(await world().newPerson())
      await page.goto(`${world().host}/dashboard/webhooks`)
      await untilShown(page)
      await page.getByRole('button', { name: 'New endpoint' }).click()
      await page.getByLabel('Events').selectOption('some')

      const seen = new Set<string>()
      for (const colorScheme of ['light', 'dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const { atOnce, later } = await page.evaluate<Record<string, string[]>>(COLOURS)
        expect(atOnce).toEqual(later)
        seen.add(String(later))
      }
      expect(seen.size).toBe(2)
    },
    TEST_MS,
  )
}
