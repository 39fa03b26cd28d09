import { Steward } from '@steward/sdk'

const steward = new Steward()
const wallet = await steward.wallets.create({ userId: 'dora' })
const funding = await steward.demo.fund(wallet.id)
await steward.demo.waitForCompletion(funding.id)
const intent = await steward.intents.lend({ walletId: wallet.id, amount: '1' })

// #region follow
await steward.intents.waitForCompletion(intent.id, {
  onEvent: ({ id, type }) => console.log(id, type),
})
// #endregion follow

// #region list
for await (const event of steward.events.list({
  intentId: intent.id,
  type: ['intent.completed', 'intent.failed'],
})) {
  console.log(event.type, event.timestamp)
}
// #endregion list

// #region token
const { token, expiresAt } = await steward.intents.createReadToken(intent.id)
console.log(`${token.slice(0, 8)}… until ${expiresAt}`)
// #endregion token
