import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
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
    expect(yields.rates).toHaveLength(3)
  })

  test('rates: `chain` is a string, the name of a chain', () => {
    expect(each('chain').sort()).toEqual(['arbitrum-sepolia', 'base-sepolia', 'ethereum-sepolia'])
  })

  test('rates: `protocol` is a string', () => {
    expect(each('protocol')).toEqual(['aave-v3', 'aave-v3', 'aave-v3'])
  })

  test('rates: `asset` is a string', () => {
    expect(each('asset')).toEqual(['USDC', 'USDC', 'USDC'])
  })

  test('rates: `apy` is a number in percent', () => {
    expect(each('apy')).toEqual([
      ...[expect.closeTo(1.52, 1), expect.closeTo(3.51, 1), expect.closeTo(3.15, 1)],
    ])
  })

  test('best: an object, the option with the highest APY', () => {
    expect(yields.best).toMatchObject({ ...highest() })
  })

  test('best: `chain` is the chain of that option', () => {
    expect(yields.best.chain).toBe('arbitrum-sepolia')
  })

  test('best: `asset` is its token symbol', () => {
    expect(yields.best.asset).toBe('USDC')
  })

  test('best: `apy` is a number, the highest of all rates', () => {
    expect(yields.best.apy).toBe(Math.max(...yields.rates.map(({ apy }) => apy)))
  })

  test('best: `reasoning` is a string that tells why', () => {
    expect(yields.best.reasoning).toContain('arbitrum-sepolia pays 3.51 %')
  })
})
