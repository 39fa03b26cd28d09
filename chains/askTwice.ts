/**
 * Repeats a request when its first error is in doubt. A node that is importing a block may answer from the state of that
 * block and the time of the one before, where a call of Aave's pool reverts.
 *
 * @param isDoubtful - Whether the request is repeated after this error. The second answer counts.
 */
export async function askTwice<T>(
  ask: () => Promise<T>,
  isDoubtful: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!isDoubtful(error)) throw error
    return ask()
  }
}
