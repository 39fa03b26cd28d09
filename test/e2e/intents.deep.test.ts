import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromUnits } from '../../domain/money.js'
import { execute, expectAbout } from './execute.js'
import { readWalletBalances } from './balances.js'
import { expectConserved } from './money.js'
import { joinWorld, toIntent, type Wallet, type E2eWorld } from './world.js'

const [ethereum, arbitrum, base] = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const

let world: E2eWorld

beforeAll(async () => {
  world = await joinWorld()
}, 600_000)
afterAll(() => world?.stop())

/** The last argument is the earned amount in base units. */
const run = (wallet: Wallet, body: object, order: string[], gained = 0n) =>
  execute(world, wallet, { body, order, gained })

const lend = (amount: number | string, more: object = {}) => ({ action: 'lend', amount, ...more })
const withdraw = (amount: number | string, chain: string) => ({
  ...{ action: 'withdraw', amount, chain },
})
const holdingsOn = (chain: typeof ethereum | typeof arbitrum | typeof base, wallet: Wallet) =>
  readWalletBalances(world.nodes[chain], wallet)

describe('lend', () => {
  test('without a chain: bridges to the best rate and deposits the arrived amount', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '2' })
    const order = [`bridge ${arbitrum}`, `mint ${base}`, `deposit ${base}`]
    const finished = await run(wallet, lend(1.5), order)
    expect(finished.executionPlan).toMatchObject({
      ...{ strategy: 'single-bridge', targetChain: base, targetProtocol: 'aave-v3' },
      steps: [
        { type: 'bridge', sequence: 1, from: arbitrum, to: base, amount: '1.5', speed: 'fast' },
        { type: 'deposit', sequence: 2, chain: base, asset: 'USDC', amount: '1.49985' },
      ],
    })
    expect(finished.results).toMatchObject({
      ...{ finalAmount: '1.49985', apy: finished.executionPlan.expectedApy },
    })
    expect((await holdingsOn(arbitrum, wallet)).usdc).toBe(500_000n)
    expectAbout((await holdingsOn(base, wallet)).aave, 1_499_850n)
  })

  test('optimize net: stays on the chain of the money when the bridge costs more than it earns', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1000' })
    const wish = lend(1_000, { optimize: 'net', horizonDays: 1 })
    const finished = await run(wallet, wish, [`deposit ${arbitrum}`])
    expect(finished.executionPlan).toMatchObject({
      ...{ strategy: 'direct-deposit', targetChain: arbitrum, targetProtocol: 'aave-v3' },
    })
    // Interest of a base unit per second.
    const { aave } = await holdingsOn(arbitrum, wallet)
    expect(aave).toBeGreaterThanOrEqual(999_999_997n)
  })

  test('on a chain whose Aave takes another dollar: swaps first', async () => {
    const wallet = await world.createWallet({ [ethereum]: '3' })
    const order = [`swap ${ethereum}`, `deposit ${ethereum}`]
    const finished = await run(wallet, lend(3, { chain: 'ethereum' }), order)
    expect(finished.executionPlan).toMatchObject({
      ...{ strategy: 'direct-deposit', targetProtocol: 'aave-v3' },
      steps: [
        { type: 'swap', asset: 'USDC', toAsset: 'TUSD', amount: '3' },
        { type: 'deposit', asset: 'TUSD' },
      ],
    })
    const { usdc, testDollar, aave } = await holdingsOn(ethereum, wallet)
    expect([usdc, testDollar]).toEqual([0n, 0n])
    // The pool keeps a hundredth of a percent.
    expectAbout(aave, 2_999_700n)
    const all = await run(wallet, withdraw('max', ethereum), [
      ...[`withdraw ${ethereum}`, `swap ${ethereum}`],
    ])
    expect(await holdingsOn(ethereum, wallet)).toMatchObject({ aave: 0n, testDollar: 0n })
    const back = (await holdingsOn(ethereum, wallet)).usdc
    expectAbout(back, 2_999_400n)
    expect(all.results.finalAmount).toBe(fromUnits(back, 6))
  })

  test('lends to Compound when the swap for the better rate costs more than it earns', async () => {
    const wallet = await world.createWallet({ [ethereum]: '2' })
    const wish = lend(2, { chain: ethereum, optimize: 'net' })
    const finished = await run(wallet, wish, [`deposit ${ethereum}`])
    expect(finished.executionPlan.targetProtocol).toBe('compound-v3')
    expectAbout((await holdingsOn(ethereum, wallet)).comet, 2_000_000n)
    await run(wallet, withdraw('max', ethereum), [`withdraw ${ethereum}`])
    expect((await holdingsOn(ethereum, wallet)).comet).toBe(0n)
  })

  test('error: INSUFFICIENT_FUNDS lists the money on other chains, and stores no intent', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1', [base]: '2', [ethereum]: '0.5' })
    const answer = await world.call('POST', '/intents', { walletId: wallet.id, ...lend(3) })
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'INSUFFICIENT_FUNDS',
        details: {
          ...{ required: '3', available: '2' },
          funds: [
            { chain: ethereum, asset: 'USDC', amount: '0.5' },
            { chain: arbitrum, asset: 'USDC', amount: '1' },
            { chain: base, asset: 'USDC', amount: '2' },
          ],
        },
      },
    })
    expect(await world.db('intent').where({ wallet_id: wallet.id })).toEqual([])
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('error: money bridged by one intent is reserved against another one', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const first = await world.create(wallet, lend(1))
    // The money is free only for a moment, if its arrival is indexed before its reservation.
    const answers = []
    let finished = first
    while (!/completed|failed/.test(finished.status)) {
      const second = { walletId: wallet.id, ...lend(0.5, { chain: base }) }
      answers.push((await world.call('POST', '/intents', second)).body)
      finished = toIntent(await world.call('GET', `/intents/${first.id}`))
    }
    // If indexing is two seconds late, the shortage is not known yet: the intent is planned, and refused once the
    // blocks are indexed.
    for (const { id } of answers.filter(({ status }) => status === 'pending')) {
      expect(await world.untilFinished(String(id))).toMatchObject({
        status: 'failed',
        error: { code: 'INSUFFICIENT_FUNDS' },
      })
    }
    const refused = answers.filter(({ status }) => status !== 'pending')
    expect(new Set(refused.map(({ error }) => error))).toEqual(new Set(['INSUFFICIENT_FUNDS']))
    expect(finished.status).toBe('completed')
    expect(await expectConserved(world, wallet)).toBe(0n)
  })
})

describe('bridge', () => {
  test('bridges at the fee of its plan', async () => {
    const wallet = await world.createWallet({ [base]: '10' })
    const wish = { action: 'bridge', amount: 10, fromChain: 'base', toChain: 'arbitrum' }
    const finished = await run(wallet, wish, [`bridge ${base}`, `mint ${arbitrum}`])
    expect(finished.executionPlan).toMatchObject({
      strategy: 'direct-bridge',
      targetChain: arbitrum,
    })
    expect(finished.results.finalAmount).toBe('9.999')
    expect((await holdingsOn(base, wallet)).usdc).toBe(0n)
    expect((await holdingsOn(arbitrum, wallet)).usdc).toBe(9_999_000n)
  })
})

describe('withdraw', () => {
  test('withdraws from two markets of a chain when neither has enough', async () => {
    const wallet = await world.createWallet({ [base]: '2' })
    await run(wallet, lend(2, { chain: base }), [`deposit ${base}`])
    await giveVaultShares(wallet, 1_000_000n)
    const order = [`withdraw ${base}`, `withdraw ${base}`]
    const finished = await run(wallet, withdraw('2.5', base), order, 1_000_000n)
    const protocols = finished.executionPlan.steps.map(({ protocol }) => protocol)
    expect(protocols).toEqual(['aave-v3', 'erc4626'])
    expect(finished.results.finalAmount).toMatch(/^2\.50?/)
    const { usdc, aave, vault } = await holdingsOn(base, wallet)
    expectAbout(usdc, 2_500_000n)
    expect(aave).toBe(0n)
    expectAbout(vault, 500_000n)
  })
})

/** Deposits money of the owner into the vault for a wallet. */
async function giveVaultShares(wallet: Wallet, units: bigint): Promise<void> {
  const { usdc, vault = '' } = world.nodes[base].contracts
  await world.own(base, usdc, 'approve', [vault, units])
  const block = await world.own(base, vault, 'deposit', [units, wallet.address])
  await world.untilIndexed(base, block)
}
