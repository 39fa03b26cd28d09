import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChainWorld, type ChainWorld } from '../chainWorld.js'

type Rate = { chain: string; protocol: string; asset: string; apy: number }
type Yields = { rates: Rate[]; best: Rate & { reasoning: string } }

let world: ChainWorld
let yields: Yields

beforeAll(async () => {
  world = await startChainWorld()
  const { body } = await world.api.call('GET', '/v1/yields', { key: world.key })
  yields = body as unknown as Yields
})
afterAll(() => world?.stop())

const each = (field: keyof Rate) => yields.rates.map((rate) => rate[field])
const highest = () => yields.rates.toSorted((a, b) => b.apy - a.apy)[0]

describe('Yield rates', () => {
  test('rates: an array of entries', () => {
    expect(yields.rates).toHaveLength(5)
  })

  test('rates: `chain` is a string, the name of a chain', () => {
    const chains = ['arbitrum-sepolia', 'base-sepolia', 'ethereum-sepolia']
    expect([...new Set(each('chain'))].sort()).toEqual(chains)
  })

  test('rates: `protocol` is a string', () => {
    expect(each('protocol')).toEqual(['aave-v3', 'compound-v3', 'aave-v3', 'aave-v3', 'erc4626'])
  })

  test('rates: `asset` is a string', () => {
    expect(each('asset')).toEqual(['TUSD', 'USDC', 'USDC', 'USDC', 'USDC'])
  })

  test('rates: `apy` is a number in percent', () => {
    const expected = [1.52, 1.25, 3.51, 4.12, 3.7].map((apy) => expect.closeTo(apy, 1))
    expect(each('apy')).toEqual(expected)
  })

  test('best: an object, the option with the highest APY', () => {
    expect(yields.best).toMatchObject({ ...highest() })
  })

  test('best: `chain` is the chain of that option', () => {
    expect(yields.best.chain).toBe('base-sepolia')
  })

  test('best: `asset` is its token symbol', () => {
    expect(yields.best.asset).toBe('USDC')
  })

  test('best: `apy` is a number, the highest of all rates', () => {
    expect(yields.best.apy).toBe(Math.max(...yields.rates.map(({ apy }) => apy)))
  })

  test('best: `reasoning` is a string that tells why', () => {
    expect(yields.best.reasoning).toContain('base-sepolia pays 4.12 %')
  })
})
