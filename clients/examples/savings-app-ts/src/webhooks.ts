import { WebhookVerificationError, type Steward } from '@steward/sdk'
import { Refusal } from './refusal.js'
import type { Orders } from './orders.js'
import type { Store } from './store.js'

/** The events that may change the status of an order. */
const EVENTS = ['intent.completed', 'intent.failed', 'intent.cancelled', 'intent.reopened']

type WebhooksOptions = { steward: Steward; store: Store; orders: Orders }

export function createWebhooks({ steward, store, orders }: WebhooksOptions) {
  // #region register
  /** Registers this address at each start. The secret is returned once, so it is stored. */
  async function register(url: string): Promise<void> {
    if (store.webhook()?.url === url) return
    for await (const webhook of steward.webhooks.list()) {
      // Created by a process that stopped before it stored the secret.
      if (webhook.url === url) await steward.webhooks.delete(webhook.id)
    }
    const { id, secret } = await steward.webhooks.create({ url, events: EVENTS })
    if (secret === undefined) return register(url)
    store.putWebhook({ id, url, secret })
  }
  // #endregion register

  // #region receive
  /** @param body - The raw body, because the signature covers its bytes. */
  async function receive(body: string, headers: Record<string, string>): Promise<void> {
    const { secret } = store.webhook() ?? { secret: [] }
    const event = await steward.webhooks.verify(body, headers, secret).catch((error: unknown) => {
      throw error instanceof WebhookVerificationError ? new Refusal(401, error.message) : error
    })
    // Events may arrive twice or late. They only trigger a reload of the intent.
    if (event.intentId) orders.settle(await steward.intents.get(event.intentId))
  }
  // #endregion receive

  return { register, receive }
}
