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
