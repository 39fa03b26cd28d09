import { condition, sleep } from '@temporalio/workflow'

/** Never lets go of the thread. */
export function cling(): Promise<void> {
  for (;;);
}

/** Is over at its second task. */
export async function letGo(): Promise<string> {
  await sleep(1)
  return 'over'
}

/** Waits for ever. */
export async function wait(): Promise<void> {
  await condition(() => false)
}
