import { sleep } from '@temporalio/workflow'

/** Sleeps and returns for how long it did, by the clock of the workflow. */
export async function sleepFor(ms: number): Promise<number> {
  const start = Date.now()
  await sleep(ms)
  return Date.now() - start
}
