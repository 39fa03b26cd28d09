import { startShared } from '../shared.js'

/** Starts what the test files share, and returns what ends it. */
export async function setup(): Promise<() => Promise<void>> {
  const { stop } = await startShared()
  return stop
}
