import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromUnits } from '../../domain/money.js'
import { until } from './stack.js'
import { readHoldings } from './holdings.js'
import { expectConserved, expectTransactions, readSupply } from './money.js'
import { startWorld, toTold, type Told, type Wallet, type World } from './world.js'

const [ethereum, arbitrum, base] = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const

let world: World
let supply: bigint

beforeAll(async () => {
  world = await startWorld()
  supply = await readSupply(world)
}, 600_000)
afterAll(() => world?.stop())

/** Lends, withdraws or bridges until it is over, and checks what must hold whatever it was. */
async function execute(wallet: Wallet, body: object, order: string[], gained = 0n): Promise<Told> {
  const created = await world.create(wallet, body)
  expect(created.status).toBe('planning')
  const told = await world.untilOver(created.id)
  const { steps } = created.executionPlan
  expect(told).toMatchObject({ status: 'completed', results: { completedSteps: steps.length } })
  await expectTransactions(world, told, order)
  expect(await expectConserved(world, wallet, gained)).toBe(0n)
  return told
}

const lend = (amount: number | string, more: object = {}) => ({ action: 'lend', amount, ...more })
const withdraw = (amount: number | string, chain: string) => ({
  ...{ action: 'withdraw', amount, chain },
})
const holdingsOn = (chain: typeof ethereum | typeof arbitrum | typeof base, wallet: Wallet) =>
  readHoldings(world.nodes[chain], wallet)

/** Up to what markets round, and the interest of a minute. */
function expectAbout(units: bigint, wanted: bigint) {
  expect(units).toBeGreaterThanOrEqual(wanted - 3n)
  expect(units).toBeLessThanOrEqual(wanted + 20n)
}

describe('lend', () => {
  test('without a chain: over the bridge to the best rate, and deposits what arrived', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '2' })
    const order = [`bridge ${arbitrum}`, `mint ${base}`, `deposit ${base}`]
    const told = await execute(wallet, lend(1.5), order)
    expect(told.executionPlan).toMatchObject({
      ...{ strategy: 'single-bridge', targetChain: base, targetProtocol: 'aave-v3' },
      steps: [
        { type: 'bridge', sequence: 1, from: arbitrum, to: base, amount: '1.5', speed: 'fast' },
        { type: 'deposit', sequence: 2, chain: base, asset: 'USDC', amount: '1.49985' },
      ],
    })
    expect(told.results).toMatchObject({
      ...{ finalAmount: '1.49985', apy: told.executionPlan.expectedApy },
    })
    expect((await holdingsOn(arbitrum, wallet)).usdc).toBe(500_000n)
    expectAbout((await holdingsOn(base, wallet)).aave, 1_499_850n)
  })

  test('optimize net: stays where the money is when the bridge costs more than it brings', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1000' })
    const wish = lend(1_000, { optimize: 'net', horizonDays: 1 })
    const told = await execute(wallet, wish, [`deposit ${arbitrum}`])
    expect(told.executionPlan).toMatchObject({
      ...{ strategy: 'direct-deposit', targetChain: arbitrum, targetProtocol: 'aave-v3' },
    })
    // So much earns a base unit each second.
    const { aave } = await holdingsOn(arbitrum, wallet)
    expect(aave).toBeGreaterThanOrEqual(999_999_997n)
  })

  test('on a chain whose Aave takes another dollar: swaps first', async () => {
    const wallet = await world.createWallet({ [ethereum]: '3' })
    const order = [`swap ${ethereum}`, `deposit ${ethereum}`]
    const told = await execute(wallet, lend(3, { chain: 'ethereum' }), order)
    expect(told.executionPlan).toMatchObject({
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
    const all = await execute(wallet, withdraw('max', ethereum), [
      ...[`withdraw ${ethereum}`, `swap ${ethereum}`],
    ])
    expect(await holdingsOn(ethereum, wallet)).toMatchObject({ aave: 0n, testDollar: 0n })
    const back = (await holdingsOn(ethereum, wallet)).usdc
    expectAbout(back, 2_999_400n)
    expect(all.results.finalAmount).toBe(fromUnits(back, 6))
  })

  test('into Compound where the swap into the better rate costs more than it brings', async () => {
    const wallet = await world.createWallet({ [ethereum]: '2' })
    const wish = lend(2, { chain: ethereum, optimize: 'net' })
    const told = await execute(wallet, wish, [`deposit ${ethereum}`])
    expect(told.executionPlan.targetProtocol).toBe('compound-v3')
    expectAbout((await holdingsOn(ethereum, wallet)).comet, 2_000_000n)
    await execute(wallet, withdraw('max', ethereum), [`withdraw ${ethereum}`])
    expect((await holdingsOn(ethereum, wallet)).comet).toBe(0n)
  })

  test('error: INSUFFICIENT_FUNDS lists money that is spread, and nothing is stored', async () => {
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

  test('of money that is not booked yet: pending while the lanes are away, and completes after', async () => {
    const wallet = await world.createWallet({})
    world.signal('lanes', 'SIGSTOP')
    const given = world.give(arbitrum, wallet.address, '1')
    const seen = () => holdingsOn(arbitrum, wallet)
    const id = await until(seen, ({ usdc }) => usdc > 0n)
      .then(() => world.create(wallet, lend(1, { chain: arbitrum })))
      .then((told) => {
        expect(told.status).toBe('pending')
        return told.id
      })
      .finally(() => world.signal('lanes', 'SIGCONT'))
    await given
    expect(await world.untilOver(id)).toMatchObject({ status: 'completed' })
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('error: what one intent brings over the bridge is not lent by another one', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const first = await world.create(wallet, lend(1))
    // Free for a moment only, if its arrival is booked before its reservation.
    const answers = []
    let told = first
    while (!/completed|failed/.test(told.status)) {
      const second = { walletId: wallet.id, ...lend(0.5, { chain: base }) }
      answers.push((await world.call('POST', '/intents', second)).body)
      told = toTold(await world.call('GET', `/intents/${first.id}`))
    }
    // Where booking is two seconds late nobody can tell yet: it is planned, and refused, once all is booked.
    for (const { id } of answers.filter(({ status }) => status === 'pending')) {
      expect(await world.untilOver(String(id))).toMatchObject({
        status: 'failed',
        error: { code: 'INSUFFICIENT_FUNDS' },
      })
    }
    const refused = answers.filter(({ status }) => status !== 'pending')
    expect(new Set(refused.map(({ error }) => error))).toEqual(new Set(['INSUFFICIENT_FUNDS']))
    expect(told.status).toBe('completed')
    expect(await expectConserved(world, wallet)).toBe(0n)
  })
})

describe('bridge', () => {
  test('moves money for the fee that the plan told', async () => {
    const wallet = await world.createWallet({ [base]: '10' })
    const wish = { action: 'bridge', amount: 10, fromChain: 'base', toChain: 'arbitrum' }
    const told = await execute(wallet, wish, [`bridge ${base}`, `mint ${arbitrum}`])
    expect(told.executionPlan).toMatchObject({ strategy: 'direct-bridge', targetChain: arbitrum })
    expect(told.results.finalAmount).toBe('9.999')
    expect((await holdingsOn(base, wallet)).usdc).toBe(0n)
    expect((await holdingsOn(arbitrum, wallet)).usdc).toBe(9_999_000n)
  })
})

describe('withdraw', () => {
  test('a part, then everything with its interest: nothing stays behind', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '5' })
    await execute(wallet, lend(5, { chain: arbitrum }), [`deposit ${arbitrum}`])
    const part = await execute(wallet, withdraw(2, arbitrum), [`withdraw ${arbitrum}`])
    expect(part.results.finalAmount).toBe('2')
    expect((await holdingsOn(arbitrum, wallet)).usdc).toBe(2_000_000n)

    await world.nodes[arbitrum].provider.send('evm_increaseTime', [30 * 86_400])
    const due = await until(
      async () => (await holdingsOn(arbitrum, wallet)).aave,
      (units) => units > 3_008_000n,
    )
    const interest = due - 3_000_000n
    const wish = withdraw('max', arbitrum)
    const all = await execute(wallet, wish, [`withdraw ${arbitrum}`], interest)
    const { usdc, aave } = await holdingsOn(arbitrum, wallet)
    expect(aave).toBe(0n)
    expect(usdc).toBeGreaterThanOrEqual(2_000_000n + due)
    expect(all.results.finalAmount).toBe(fromUnits(usdc - 2_000_000n, 6))
  })

  test('over two markets of a chain when neither has enough', async () => {
    const wallet = await world.createWallet({ [base]: '2' })
    await execute(wallet, lend(2, { chain: base }), [`deposit ${base}`])
    await giveVaultShares(wallet, 1_000_000n)
    const order = [`withdraw ${base}`, `withdraw ${base}`]
    const told = await execute(wallet, withdraw('2.5', base), order, 1_000_000n)
    const protocols = told.executionPlan.steps.map(({ protocol }) => protocol)
    expect(protocols).toEqual(['aave-v3', 'erc4626'])
    expect(told.results.finalAmount).toMatch(/^2\.50?/)
    const { usdc, aave, vault } = await holdingsOn(base, wallet)
    expectAbout(usdc, 2_500_000n)
    expect(aave).toBe(0n)
    expectAbout(vault, 500_000n)
  })
})

/** Puts money of the owner into the vault for a wallet. */
async function giveVaultShares(wallet: Wallet, units: bigint): Promise<void> {
  const { usdc, vault = '' } = world.nodes[base].contracts
  await world.own(base, usdc, 'approve', [vault, units])
  const block = await world.own(base, vault, 'deposit', [units, wallet.address])
  await world.untilBooked(base, block)
}

describe('a deployment whose Aave on base takes another dollar', () => {
  test('lends into the vault', async () => {
    const wallet = await world.createWallet({ [base]: '2' })
    await withoutAave()
    const told = await execute(wallet, lend(2, { chain: base }), [`deposit ${base}`])
    expect(told.executionPlan.targetProtocol).toBe('erc4626')
    expectAbout((await holdingsOn(base, wallet)).vault, 2_000_000n)
    await execute(wallet, withdraw('max', base), [`withdraw ${base}`])
    expect((await holdingsOn(base, wallet)).vault).toBe(0n)
  }, 120_000)
})

/** Lists another token for Aave on base, and lets the processes read it at their next start. */
async function withoutAave(): Promise<void> {
  const file = join(world.stack.home, 'devnet.json')
  const all = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
  const { aToken } = world.nodes[base].contracts
  writeFileSync(
    file,
    JSON.stringify({ ...all, [base]: { ...all[base], testDollar: aToken, aaveAsset: aToken } }),
  )
  const { pids, hostUrl } = world.stack.readFacts()
  const services = ['api', 'worker', 'lanes', 'signer'] as const
  for (const service of services) process.kill(pids[service], 'SIGKILL')
  await until(
    () => Promise.resolve(world.stack.readFacts().pids),
    (now) => services.every((service) => now[service] && now[service] !== pids[service]),
  )
  await until(
    () => fetch(`${hostUrl}/readyz`).catch(() => undefined),
    (answer) => answer?.ok === true,
  )
}

test('over the whole run no dollar was made or lost', async () => {
  expect(await readSupply(world)).toBe(supply + world.given())
})
