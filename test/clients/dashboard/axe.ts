import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type RuleScope = 'all' | 'colours'

/** The theme changes only colours, and only this rule checks colours. */
const runOnly = { all: undefined, colours: ['color-contrast'] }

/**
 * The accessibility violations of a page: rule, element and reason.
 *
 * @param page - A page of a context with `bypassCSP`, because the rules are an injected script.
 * @returns Only serious and critical violations.
 * @see https://github.com/dequelabs/axe-core/blob/develop/doc/API.md
 */
export async function findBarriers(page: Page, scope: RuleScope = 'all'): Promise<string[]> {
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

/** The accessibility violations of a page in the light and the dark theme. */
export async function barriersInThemes(page: Page): Promise<string[]> {
  const look = async (colorScheme: 'light' | 'dark', scope: RuleScope) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const barriers = await findBarriers(page, scope)
    return barriers.map((barrier) => `${colorScheme}: ${barrier}`)
  }
  return [...(await look('light', 'all')), ...(await look('dark', 'colours'))]
}
