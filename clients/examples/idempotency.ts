import { Steward } from '@steward/sdk'

const steward = new Steward()
const wallet = await steward.wallets.create({ userId: 'frank' })
const funding = await steward.demo.fund(wallet.id)
await steward.demo.waitForCompletion(funding.id)

// #region key
const place = () =>
  steward.intents.lend({ walletId: wallet.id, amount: '1' }, { idempotencyKey: 'order-1' })

const first = await place()
const again = await place()
console.log(again.id === first.id ? 'one intent' : 'two intents')
// #endregion key
