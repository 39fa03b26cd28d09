import { proxyActivities, sleep } from '@temporalio/workflow'
import type { DeliverInput, DeliveryActivities } from '../activities/deliverWebhook.js'

/** Far above the time that an endpoint has to answer: what takes longer has lost its worker. */
const { deliver } = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '12s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
})

/** Tries to deliver an event to an endpoint until that is over. When it is tried next the rows say. */
export async function deliverWebhook(input: DeliverInput): Promise<void> {
  for (;;) {
    const { retryInMs } = await deliver(input)
    if (retryInMs === undefined) return
    await sleep(retryInMs)
  }
}
