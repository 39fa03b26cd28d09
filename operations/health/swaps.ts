import { Interface } from 'ethers'
import { isSameAddress } from '../../evm/address.js'
import { findToken, type SwapPool } from '../../evm/registry.js'
import { poolAddress } from '../../evm/swaps/uniswapV3.js'
import { failed, ok, warning, type Probe, type CheckResult } from './look.js'

/** @see https://docs.uniswap.org/contracts/v3/reference/periphery/base/PeripheryImmutableState */
const periphery = new Interface(['function factory() view returns (address)'])

const pool = new Interface(['function liquidity() view returns (uint128)'])

/** Checks that quoter and router of Uniswap v3 belong to the factory, and the listed pools with their liquidity. */
export async function checkSwaps(probe: Probe): Promise<CheckResult[]> {
  const { uniswap } = probe.chain
  if (!uniswap) return []
  const { factory, quoter, router } = uniswap
  const own = probe.hasCode(factory)
    ? ok('Uniswap factory', 'swaps', 'is deployed')
    : failed('Uniswap factory', 'swaps', `no Uniswap factory at ${factory}`)
  const ofFactory = async (name: string, to: string) => {
    const answer = await probe.read({ to, abi: periphery, name: 'factory' })
    const isIts = answer && isSameAddress(String(answer[0]), factory)
    if (isIts) return ok(`Uniswap ${name}`, 'swaps', 'belongs to the factory')
    return failed(`Uniswap ${name}`, 'swaps', `no ${name} of that factory at ${to}`)
  }
  const parts = [ofFactory('quoter', quoter), ofFactory('router', router)]
  const rows = [own, ...(await Promise.all(parts))]
  // A missing factory has no pools.
  if (rows.some(({ outcome }) => outcome === 'failed')) return rows
  const pools = uniswap.pools.map((listed) => checkPool(probe, factory, listed))
  return [...rows, ...(await Promise.all(pools))]
}

/** A pool without liquidity gives no quote, so plans leave it out by themselves. */
async function checkPool(
  { chain, read }: Probe,
  factory: string,
  { tokens, fee }: SwapPool,
): Promise<CheckResult> {
  const check = `swap pool ${tokens.join('/')}`
  const [one, other] = tokens.map((symbol) => findToken(chain, symbol)?.address ?? '')
  if (!one || !other) return failed(check, 'swaps', 'its tokens are missing in the registry')
  const to = poolAddress(factory, [one, other], fee)
  const answer = await read({ to, abi: pool, name: 'liquidity' })
  if (!answer) return warning(check, 'swaps', `no pool at ${to}`)
  if (answer[0] === 0n) return warning(check, 'swaps', 'has no liquidity at its price')
  return ok(check, 'swaps', 'has liquidity')
}
