import { MAX_PRICE_AGE_SECONDS, priceFeed as abi } from '../../evm/prices.js'
import { failed, ok, warning, type Probe, type CheckResult } from './look.js'

/** Checks the price feed of ETH in USD, which converts costs. */
export async function checkFeed({ chain, read }: Probe): Promise<CheckResult[]> {
  const { ethUsdFeed: to } = chain
  const [decimals, round] = await Promise.all([
    read({ to, abi, name: 'decimals' }),
    read({ to, abi, name: 'latestRoundData' }),
  ])
  return [judge(to, decimals?.[0], round && [round[1] as bigint, round[3] as bigint])]
}

function judge(to: string, decimals: unknown, round: [bigint, bigint] | undefined): CheckResult {
  const check = 'ETH / USD feed'
  if (decimals !== 8n || !round || round[0] <= 0n) {
    return failed(check, 'prices', `no ETH / USD feed at ${to}`)
  }
  const age = Math.floor(Date.now() / 1000) - Number(round[1])
  if (age <= MAX_PRICE_AGE_SECONDS) return ok(check, 'prices', 'is fresh')
  const hours = Math.floor(age / 3_600)
  return warning(check, 'prices', `the price of ETH is ${hours} hours old`)
}
