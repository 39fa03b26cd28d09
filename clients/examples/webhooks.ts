import { Steward } from '@steward/sdk'

const steward = new Steward()

// #region create
const webhook = await steward.webhooks.create({
  url: 'http://127.0.0.1:8787/hooks',
  events: ['intent.completed', 'intent.failed'],
})
console.log(webhook.id, webhook.secret)
// #endregion create

// #region enable
await steward.webhooks.update(webhook.id, { status: 'enabled' })
// #endregion enable

// #region deliveries
await steward.webhooks.test(webhook.id)
for await (const delivery of steward.webhooks.deliveries(webhook.id)) {
  console.log(delivery.type, delivery.status, delivery.attempts)
}
// #endregion deliveries

// #region rotate
const { secret, previousUntil } = await steward.webhooks.rotateSecret(webhook.id, {
  graceHours: 24,
})
console.log(secret, previousUntil)
// #endregion rotate

await steward.webhooks.delete(webhook.id)
