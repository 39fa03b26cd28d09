import type { StackFacts } from '../e2e/stack.js'
import { timed } from './run/seconds.js'

/** Shared fixtures of a test run. */
export type SharedFacts = {
  /** A Temporal dev server. `namespace`: exclusive to the caller, with the search attributes registered. */
  temporal: { address: string; port: number; namespace: string }
  /** A whole stack, as `npm start` starts it. Tests use accounts and wallets of their own. */
  stack: { home: string; facts: StackFacts }
}
export type SharedName = keyof SharedFacts

/**
 * The shared fixture of a name, started for the first test that requests it. A test that kills it, stops it or
 * changes its clock starts its own.
 */
export async function getShared<Name extends SharedName>(name: Name): Promise<SharedFacts[Name]> {
  const url = process.env.TEST_SHARED_URL
  if (!url) throw new Error('The shared fixtures are not running. Run the tests by npm test.')
  return timed(name, async () => {
    const response = await fetch(`${url}/${name}`)
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as SharedFacts[Name]
  })
}
