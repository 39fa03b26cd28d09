import { expect, test } from 'vitest'
import { hasBrowser } from './browser.js'
import { startPageWorld } from './pageWorld.js'
import { untilShown } from './people.js'

const TEST_MS = 150_000
const ROUNDS = 3

const testWithBrowser = hasBrowser ? test : test.skip

/** The colours of every element at this moment, and after as many frames as a page is deep. */
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

testWithBrowser(
  'for whom motion is reduced, a change of theme reaches every element at once',
  async () => {
    const world = await startPageWorld()
    try {
      const { page } = await world.open(await world.newPerson())
      await page.goto(`${world.host}/dashboard/webhooks`)
      await untilShown(page)
      await page.getByRole('button', { name: 'New endpoint' }).click()
      await page.getByLabel('Events').selectOption('some')

      const seen = new Set<string>()
      for (let round = 0; round < ROUNDS; round++) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          const { atOnce, later } = await page.evaluate<Record<string, string[]>>(COLOURS)
          expect(atOnce).toEqual(later)
          seen.add(String(later))
        }
      }
      expect(seen.size).toBe(2)
    } finally {
      await world.stop()
    }
  },
  TEST_MS,
)
