/** Resolves like `work`, or to undefined after `ms`. Does not cancel the work. */
export async function atMost<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
