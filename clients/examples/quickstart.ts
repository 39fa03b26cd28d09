// #region quickstart
import { Steward } from '@steward/sdk'

const steward = new Steward()
const wallet = await steward.wallets.create({ userId: 'alice' })

const funding = await steward.demo.fund(wallet.id)
await steward.demo.waitForCompletion(funding.id)

const { id } = await steward.intents.lend({ walletId: wallet.id, amount: '1' })
const { status, results } = await steward.intents.waitForCompletion(id)
console.log(`${status}: ${results?.finalAmount} USDC lent at ${results?.apy} %`)
// #endregion quickstart
