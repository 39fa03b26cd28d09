import { afterAll, beforeAll, expect, test } from 'vitest'
import { earnedUnits } from '../../../domain/earnings.js'
import { devnetTerms } from '../../../dev/devnet/chains.js'
import { lendingProtocol } from '../../../evm/lending/markets.js'
import { createWorld, usdcUnits, type World } from '../world/fixture.js'
import { lendIn } from '../world/planned.js'

const MONTH_SECONDS = 2_592_000

let world: World
beforeAll(async () => {
  const terms = devnetTerms['arbitrum-sepolia']
  world = await createWorld({ senderCount: 1, terms: { ...terms, extras: ['comet', 'vault'] } })
})
afterAll(() => world?.stop())

test.each(['aave-v3', 'erc4626', 'compound-v3'] as const)(
  'a deposit into %s is indexed with its share price, which leads to its interest',
  async (name) => {
    const market = world.chain.markets.find(({ protocol }) => protocol === name)
    if (!market) throw new Error(`There is no ${name}.`)
    const wallet = await world.createWallet(1_000n * usdcUnits)
    await lendIn(world, wallet, market, 1_000n * usdcUnits)
    const where = { wallet_id: wallet.id, kind: 'deposit' }
    const row = await world
      .db('operation')
      .where(where)
      .first<{ units: string; share_price: string }>()
    const sharePrice = BigInt(row.share_price)
    await world.rpc('evm_increaseTime', [MONTH_SECONDS])
    await world.mine()
    const { client } = world.driver()
    const protocol = lendingProtocol(market)
    const at = { wallet: wallet.address, block: 'latest' } as const
    const [price, value] = await Promise.all([
      protocol.readSharePrice(client, market, 'latest'),
      protocol.readPosition(client, market, at),
    ])
    const units = BigInt(row.units)
    const earned = earnedUnits([{ kind: 'deposit', units, sharePrice }], price) ?? 0n
    expect(earned).toBeGreaterThan(usdcUnits / 2n)
    // Markets round.
    expect(Math.abs(Number(earned - (value - units)))).toBeLessThanOrEqual(3)
  },
)
