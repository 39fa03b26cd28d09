import type { StackFacts } from '../e2e/stack.js'
import { timed } from './run/seconds.js'

/** What one run of the tests has once, and how a test reaches it. */
export type SharedFacts = {
  /** A Temporal dev server. `namespace`: one that nobody else is given; it knows the search attributes. */
  temporal: { address: string; port: number; namespace: string }
  /** A whole stack as `npm start` brings it up. Tests use accounts and wallets of their own. */
  stack: { home: string; facts: StackFacts }
}
export type SharedName = keyof SharedFacts

/**
 * What the run shares under a name, started for the first test that asks for it. A test that kills it, stops it or
 * changes its clock starts one of its own.
 */
export async function getShared<Name extends SharedName>(name: Name): Promise<SharedFacts[Name]> {
  const url = process.env.TEST_SHARED_URL
  if (!url) throw new Error('Nothing is shared: run the tests by npm test.')
  return timed(name, async () => {
    const response = await fetch(`${url}/${name}`)
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as SharedFacts[Name]
  })
}
