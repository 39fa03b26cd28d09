import { Interface } from 'ethers'
import { isSameAddress } from '../chains/address.js'
import { failed, ok, type Probe, type Row } from './look.js'

/** @see https://docs.uniswap.org/contracts/v3/reference/periphery/base/PeripheryImmutableState */
const periphery = new Interface(['function factory() view returns (address)'])

/** Uniswap v3: quoter and router of one factory. */
export async function checkSwaps(probe: Probe): Promise<Row[]> {
  const { uniswap } = probe.chain
  if (!uniswap) return []
  const { factory, quoter, router } = uniswap
  const isThere = probe.hasCode(factory)
  const place = isThere
    ? ok('Uniswap factory', 'swaps', 'is there')
    : failed('Uniswap factory', 'swaps', `there is no factory of Uniswap at ${factory}`)
  const ofFactory = async (name: string, to: string) => {
    const answer = await probe.read({ to, abi: periphery, name: 'factory' })
    const isIts = answer && isSameAddress(String(answer[0]), factory)
    if (isIts) return ok(`Uniswap ${name}`, 'swaps', 'is of the factory')
    return failed(`Uniswap ${name}`, 'swaps', `there is no ${name} of that factory at ${to}`)
  }
  const parts = [ofFactory('quoter', quoter), ofFactory('router', router)]
  return [place, ...(await Promise.all(parts))]
}
