import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Transaction, toBeHex, toQuantity } from 'ethers'
import { ARB_GAS_INFO_ADDRESS, GAS_PRICE_ORACLE_ADDRESS } from '../../../evm/l1Costs.js'
import { gasCostUsd } from '../../../domain/money.js'
import { signOnce } from '../../../signer/sign.js'
import { createArrival, expectArrived } from '../../relayer/bridge/crossing.js'
import { createWorld, usdcUnits, type Lend, type World } from '../../relayer/world/fixture.js'

const GWEI = 1_000_000_000n
/** The price of the devnet's feed. */
const ETH_PRICE_E8 = 3_000n * 10n ** 8n

/** Sets the L1 data price of the rollup stand-in. */
async function priceL1(world: World, at: string, wei: bigint): Promise<void> {
  await world.rpc('anvil_setStorageAt', [at, toBeHex(0, 32), toBeHex(wei, 32)])
}

type RollupReceipt = {
  gasUsed: string
  effectiveGasPrice: string
  gasUsedForL1?: string
  l1Fee?: string
}
const receiptOf = (world: World, hash: string) =>
  world.signer.chains.byId(0).send<RollupReceipt>('eth_getTransactionReceipt', [hash])

async function lendFrom(world: World, count: number): Promise<Lend[]> {
  const lends: Lend[] = []
  for (const wallet of await world.createWallets(count, usdcUnits)) {
    lends.push(await world.lend(wallet, usdcUnits))
  }
  return lends
}

async function expectLent(world: World, lends: Lend[]): Promise<void> {
  for (const { operationId, wallet } of lends) {
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(wallet.address)).toBe(usdcUnits)
  }
}

describe('Arbitrum, where L1 data is charged as gas:', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1, asRollup: true })
    // A busy day on L1: data needs more gas than execution.
    await priceL1(world, ARB_GAS_INFO_ADDRESS, 2n * GWEI)
  })
  afterAll(() => world?.stop())

  test('the limit of a bundle covers it, and the used gas includes it', async () => {
    const lends = await lendFrom(world, 1)
    await world.round()
    await expectLent(world, lends)
    const row = await world.row(lends[0]?.operationId ?? '')
    const { gasUsed, gasUsedForL1 } = await receiptOf(world, row?.tx_hash ?? '')
    expect(BigInt(gasUsedForL1 ?? 0)).toBeGreaterThan(BigInt(gasUsed) / 2n)
    expect(row?.gas_used).toBe(BigInt(gasUsed).toString())
  })

  test('the limits of a funding and of a mint cover it', async () => {
    const funding = await world.fund(await world.createWallet(0n))
    const arrival = await createArrival(world, await world.createWallet(0n), usdcUnits)
    const minting = await world.submit(arrival.order)
    await world.round()
    expect(await world.row(funding.operationId)).toMatchObject({ state: 'confirmed' })
    await expectArrived(world, arrival, minting)
  })

  test('twenty operations still share one transaction and its gas', async () => {
    await priceL1(world, ARB_GAS_INFO_ADDRESS, GWEI / 10n)
    const lends = await lendFrom(world, 20)
    const before = (await world.transactions()).length
    await world.round()
    await expectLent(world, lends)
    expect(await world.transactions()).toHaveLength(before + 1)
    const rows = await Promise.all(lends.map(({ operationId }) => world.row(operationId)))
    const { gasUsed } = await receiptOf(world, rows[0]?.tx_hash ?? '')
    const shares = rows.reduce((sum, row) => sum + BigInt(row?.gas_used ?? 0), 0n)
    expect(shares).toBe(BigInt(gasUsed))
  })
})

describe('an OP Stack chain, where L1 data has a fee of its own:', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ name: 'base-sepolia', senderCount: 1, asRollup: true })
    // The L1 fee is far above the execution fee.
    await priceL1(world, GAS_PRICE_ORACLE_ADDRESS, 1_000n * GWEI)
  })
  afterAll(() => world?.stop())

  const setBalance = (wei: bigint) =>
    world.rpc('anvil_setBalance', [world.senders[0], toQuantity(wei)])

  test('costs of a bundle include the fee, and add up to the receipt', async () => {
    const lends = await lendFrom(world, 3)
    await world.round()
    await expectLent(world, lends)
    const [{ hash } = { hash: '' }] = await world.sends()
    const { gasUsed, effectiveGasPrice, l1Fee } = await receiptOf(world, hash)
    const execution = BigInt(gasUsed) * BigInt(effectiveGasPrice)
    expect(BigInt(l1Fee ?? 0)).toBeGreaterThan(execution)
    const costs = await world.db('operation').pluck<string[]>('gas_cost_usd')
    const sum = costs.reduce((total, usd) => total + Number(usd), 0)
    // Each share is rounded down to 1e-6.
    expect(sum).toBeCloseTo(gasCostUsd(execution + BigInt(l1Fee ?? 0), ETH_PRICE_E8), 4)
  })

  test('a sender that can pay the gas but not the fee signs nothing', async () => {
    const [lend] = (await lendFrom(world, 1)) as [Lend]
    const before = await world.transactions()
    await setBalance(100_000n * GWEI)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({
      ...{ state: 'deferred', code: 'RPC_ERROR', payload: null },
      message: expect.stringContaining('is out of gas'),
    })
    expect(await world.transactions()).toEqual(before)
    await setBalance(10n ** 18n)
    await world.retryNow(lend)
    await world.round()
    await expectLent(world, [lend])
  })

  test.each([
    ['the suggestion of the node', { answer: toQuantity(GWEI / 20n) }, GWEI / 20n],
    ['the upper bound for a higher suggestion', { answer: toQuantity(1_000n * GWEI) }, GWEI / 10n],
    ['the lower bound for a lower suggestion', { answer: '0x0' }, GWEI / 1_000n],
    [
      'the lower bound without a suggestion',
      { error: { code: -32_601, message: 'no such method' } },
      GWEI / 1_000n,
    ],
  ])('the tip is %s', async (_title, fault, tipWei) => {
    const lends = await lendFrom(world, 1)
    world.proxy.set(({ method }) => (method === 'eth_maxPriorityFeePerGas' ? fault : undefined))
    const signer = world.createSigner('tipping')
    await signOnce(signer, signer.chains.byId(0))
    world.proxy.set(undefined)
    const raw = (await world.sends()).at(-1)?.raw ?? ''
    const { maxPriorityFeePerGas, maxFeePerGas } = Transaction.from(raw)
    expect(maxPriorityFeePerGas).toBe(tipWei)
    expect(maxFeePerGas).toBe(2n * 5_000_000n + tipWei)
    await world.round()
    await expectLent(world, lends)
  })
})
