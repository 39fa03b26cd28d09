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

/** The barriers of a page as it is now, in the light theme and in the dark one: a change reaches all of it at once. */
export async function barriersInThemes(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const barriers = await findBarriers(page)
    found.push(...barriers.map((barrier) => `${colorScheme}: ${barrier}`))
  }
  return found
}
