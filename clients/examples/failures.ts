import { InsufficientFundsError, IntentFailedError, Steward, StewardError } from '@steward/sdk'

const steward = new Steward()
const wallet = await steward.wallets.create({ userId: 'bob' })
const funding = await steward.demo.fund(wallet.id)
await steward.demo.waitForCompletion(funding.id)

// #region refused
try {
  await steward.intents.lend({ walletId: wallet.id, amount: '1000' })
} catch (error) {
  if (error instanceof InsufficientFundsError) {
    const { required, available } = error.details
    console.log(`refused: this needs ${required} USDC, the wallet has ${available}`)
  } else if (error instanceof StewardError) {
    console.error(error.code, error.reason, error.requestId, error.details.docs)
    throw error
  } else throw error
}
// #endregion refused

// #region simulate
const intent = await steward.intents.lend({
  walletId: wallet.id,
  amount: '1',
  metadata: { simulate: 'DEPOSIT_FAILED' },
})
// #endregion simulate

// #region failed
try {
  await steward.intents.waitForCompletion(intent.id)
} catch (error) {
  if (!(error instanceof IntentFailedError)) throw error
  for (const { amount, asset, chain } of error.intent.error?.funds ?? []) {
    console.log(`${error.code}: the money, ${amount} ${asset}, is on ${chain}`)
  }
}
// #endregion failed

// #region retry
const retry = await steward.intents.retry(intent.id)
const { status, results } = await steward.intents.waitForCompletion(retry.id)
console.log(`${status}: ${results?.finalAmount} USDC`)
// #endregion retry
