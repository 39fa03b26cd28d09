import { Interface } from 'ethers'
import { isSameAddress } from '../../evm/address.js'
import { failed, ok, type Probe, type CheckResult } from './look.js'

/** @see https://docs.uniswap.org/contracts/v3/reference/periphery/base/PeripheryImmutableState */
const periphery = new Interface(['function factory() view returns (address)'])

/** Checks that quoter and router of Uniswap v3 belong to the factory. */
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
  return [own, ...(await Promise.all(parts))]
}
