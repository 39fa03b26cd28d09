import { startShared } from '../shared.js'

/** Starts the shared fixtures of the test files, and returns a function that stops them. */
export async function setup(): Promise<() => Promise<void>> {
  const { stop } = await startShared()
  return stop
}
