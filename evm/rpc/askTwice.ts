/**
 * Repeats a request once after a doubtful error. While a node imports a block, it may answer from the new state with
 * the previous block's time, and calls of Aave's pool then revert.
 *
 * @param isDoubtful - True for an error after which the request is repeated. The second answer counts.
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
