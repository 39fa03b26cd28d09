import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fromUnits } from '../../../domain/money.js'
import { readDevnetFile } from '../../../evm/devnetFile.js'
import { execute, expectAbout } from '../execute.js'
import { readWalletBalances } from '../balances.js'
import { expectConserved } from '../money.js'
import { until } from '../stack.js'
import type { OwnWorld } from '../world.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const
const roles = ['api', 'worker', 'relayer', 'signer'] as const

/** Money that is not indexed yet, interest of a month, and a deployment with other markets. */
export function testMarkets(open: () => OwnWorld): void {
  test('a lend of money that is not indexed yet stays pending while the relayer is down, and completes afterwards', async () => {
    const world = open()
    const wallet = await world.createWallet({})
    world.signal('relayer', 'SIGSTOP')
    const given = world.give(arbitrum, wallet.address, '1')
    const seen = () => readWalletBalances(world.nodes[arbitrum], wallet)
    await until(seen, ({ usdc }) => usdc > 0n)
    const finished = await world.create(wallet, { action: 'lend', amount: 1, chain: arbitrum })
    world.signal('relayer', 'SIGCONT')
    expect(finished.status).toBe('pending')
    await given
    expect(await world.untilFinished(finished.id)).toMatchObject({ status: 'completed' })
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('a withdrawal of a part, then of everything with its interest, leaves no balance in the market', async () => {
    const world = open()
    const wallet = await world.createWallet({ [arbitrum]: '5' })
    const balances = () => readWalletBalances(world.nodes[arbitrum], wallet)
    const lend = { action: 'lend', amount: 5, chain: arbitrum }
    await execute(world, wallet, { body: lend, order: [`deposit ${arbitrum}`] })
    const withdraw = (amount: number | 'max') => ({
      body: { action: 'withdraw', amount, chain: arbitrum },
      order: [`withdraw ${arbitrum}`],
    })
    const part = await execute(world, wallet, withdraw(2))
    expect(part.results.finalAmount).toBe('2')
    expect((await balances()).usdc).toBe(2_000_000n)

    await world.nodes[arbitrum].provider.send('evm_increaseTime', [30 * 86_400])
    const { aave: due } = await until(balances, ({ aave }) => aave > 3_008_000n)
    const gained = due - 3_000_000n
    const all = await execute(world, wallet, { ...withdraw('max'), gained })
    const { usdc, aave } = await balances()
    expect(aave).toBe(0n)
    expect(usdc).toBeGreaterThanOrEqual(2_000_000n + due)
    expect(all.results.finalAmount).toBe(fromUnits(usdc - 2_000_000n, 6))
  })

  describe('a deployment whose Aave on base takes another dollar', () => {
    test('lends into the vault', async () => {
      const world = open()
      const wallet = await world.createWallet({ [base]: '2' })
      await withoutAave(world)
      const vault = async () => (await readWalletBalances(world.nodes[base], wallet)).vault
      const lend = { action: 'lend', amount: 2, chain: base }
      const finished = await execute(world, wallet, { body: lend, order: [`deposit ${base}`] })
      expect(finished.executionPlan.targetProtocol).toBe('erc4626')
      expectAbout(await vault(), 2_000_000n)
      const withdraw = { action: 'withdraw', amount: 'max', chain: base }
      await execute(world, wallet, { body: withdraw, order: [`withdraw ${base}`] })
      expect(await vault()).toBe(0n)
    }, 120_000)
  })
}

/** Lists another token for Aave on base and lets the roles read it, until the stack restarts. */
async function withoutAave(world: OwnWorld): Promise<void> {
  const file = join(world.stack.home, 'devnet.json')
  const all = readDevnetFile(file)
  const { aToken } = world.nodes[base].contracts
  const listed = { ...all[base], testDollar: aToken, aaveAsset: aToken }
  writeFileSync(file, JSON.stringify({ ...all, [base]: listed }))
  await world.kill(...roles)
}
