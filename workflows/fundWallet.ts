import { CancellationScope, proxyActivities } from '@temporalio/workflow'
import { createUntilSettled } from './untilSettled.js'
import { DAY_MS } from '../runtime/durations.js'
import type { Activities } from '../activities/index.js'

const { fund } = proxyActivities<Activities>({
  startToCloseTimeout: '75s',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
})

/** Sends the test money of a funding exactly once. */
export async function fundWallet({
  fundingId,
}: {
  fundingId: string
}): Promise<{ txHash: string }> {
  const untilSettled = createUntilSettled()
  const deadlineMs = Date.now() + DAY_MS
  const { txHash } = await CancellationScope.nonCancellable(() =>
    untilSettled(() => fund({ fundingId, deadlineMs })),
  )
  return { txHash }
}
