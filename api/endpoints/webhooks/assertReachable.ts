import { invalidRequest } from '../../../domain/errors.js'
import { createGuard } from '../../../webhooks/address.js'
import { SendFailure } from '../../../webhooks/failure.js'
import type { Services } from '../../http/services.js'

/** What an endpoint is sent is decided when it is sent; here its owner hears of it in time. */
export async function assertReachable({ registry, guard }: Services, url: string): Promise<void> {
  const own = guard ?? createGuard({ isDevnet: registry.network === 'devnet' })
  const rule = own.refusal(url)
  if (rule !== undefined) throw invalidRequest('url', `url ${rule}.`, 'webhook_url_refused')
  try {
    await own.pin(new URL(url))
  } catch (error) {
    if (!(error instanceof SendFailure)) throw error
    // What the name resolves to stays inside: it may tell of the network around this service.
    const message = 'url must have a name that resolves to a public address.'
    throw invalidRequest('url', message, 'webhook_url_refused')
  }
}
