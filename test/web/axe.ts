import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Scope = 'all' | 'colours'

/** The theme changes colours and nothing else, and only this rule looks at colours. */
const runOnly = { all: undefined, colours: ['color-contrast'] }

/**
 * What keeps some people from using a page, as far as a machine can tell: rule, element and reason.
 *
 * @param page - Of a context that bypasses the page's policy: the rules are a script of their own.
 * @returns Only what is serious or critical.
 * @see https://github.com/dequelabs/axe-core/blob/develop/doc/API.md
 */
export async function findBarriers(page: Page, scope: Scope = 'all'): Promise<string[]> {
  const isLoaded = await page.evaluate<boolean>(`'axe' in window`)
  if (!isLoaded) await page.evaluate(source)
  const options = JSON.stringify({ resultTypes: ['violations'], runOnly: runOnly[scope] })
  const results = await page.evaluate<AxeResults>(`axe.run(${options})`)
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html}\n${failureSummary}`),
    )
}

/** The barriers of a page as it is now, in the light theme and in the dark one: a change reaches all of it at once. */
export async function barriersInThemes(page: Page): Promise<string[]> {
  const look = async (colorScheme: 'light' | 'dark', scope: Scope) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const barriers = await findBarriers(page, scope)
    return barriers.map((barrier) => `${colorScheme}: ${barrier}`)
  }
  return [...(await look('light', 'all')), ...(await look('dark', 'colours'))]
}
