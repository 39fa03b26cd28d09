import { proxyActivities, sleep } from '@temporalio/workflow'
import type { DeliverInput, DeliveryActivities } from '../activities/deliverWebhook.js'

/** Above the time that an endpoint has to answer. A longer attempt has lost its worker. */
const { deliver } = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '12s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
})

/** Attempts a delivery until it succeeds or fails for good. The pauses between attempts come from the delivery's row. */
export async function deliverWebhook(input: DeliverInput): Promise<void> {
  for (;;) {
    const { retryInMs } = await deliver(input)
    if (retryInMs === undefined) return
    await sleep(retryInMs)
  }
}
