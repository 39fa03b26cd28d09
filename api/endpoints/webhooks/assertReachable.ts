import { invalidRequest } from '../../../domain/errors.js'
import { createGuard } from '../../../activities/webhooks/address.js'
import { SendFailure } from '../../../activities/webhooks/failure.js'
import type { Services } from '../../http/services.js'

/** Checks the URL when it is set, so that its owner sees the error. Deliveries check it again. */
export async function assertReachable({ registry, guard }: Services, url: string): Promise<void> {
  const addresses = guard ?? createGuard({ isDevnet: registry.network === 'devnet' })
  const rule = addresses.refusal(url)
  if (rule !== undefined) throw invalidRequest('url', `url ${rule}.`, 'webhook_url_refused')
  try {
    await addresses.pin(new URL(url))
  } catch (error) {
    if (!(error instanceof SendFailure)) throw error
    // The message omits the resolved address: it could reveal the network of this service.
    const message = 'url must have a name that resolves to a public address.'
    throw invalidRequest('url', message, 'webhook_url_refused')
  }
}
