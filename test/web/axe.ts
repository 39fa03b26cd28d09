import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What keeps some people from using a page, as far as a machine can tell: rule, element and reason.
 *
 * @param page - Of a context that bypasses the page's policy: the rules are a script of their own.
 * @returns Only what is serious or critical.
 * @see https://github.com/dequelabs/axe-core/blob/develop/doc/API.md
 */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(source)
  const results = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ['violations'] })`)
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html}\n${failureSummary}`),
    )
}

/** Resolves when a change of theme has reached every element: half of one would be looked at otherwise. */
const UNTIL_PAINTED = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  await frame()
  await frame()
  await Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished))
  await frame()
})()`

/** The barriers of a page as it is now, in the light theme and in the dark one. */
export async function barriersInThemes(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.evaluate(UNTIL_PAINTED)
    const barriers = await findBarriers(page)
    found.push(...barriers.map((barrier) => `${colorScheme}: ${barrier}`))
  }
  return found
}
