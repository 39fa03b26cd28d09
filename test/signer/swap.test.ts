import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface, MaxUint256, Transaction } from 'ethers'
import { readBalance } from '../../evm/read.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { assetText, assetUnits, divideUp } from '../../domain/money.js'
import { entryPoint } from '../../evm/calls/userOperation.js'
import { forge } from '../relayer/world/scenes/forge.js'
import { createWorld, owner, usdcUnits, type World } from '../relayer/world/fixture.js'
import { lendIn, planWithdrawal, submitStep } from '../relayer/world/planned.js'
import type { SwapStep } from '../../domain/intent/intent.js'

const contracts = new Interface([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function executeBatch(tuple(address target, uint256 value, bytes data)[] calls)',
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)`,
])

let world: World
let dollar: string

beforeAll(async () => {
  // Aave lends another USD token than Circle's, so withdrawn money is swapped.
  const terms = devnetTerms['ethereum-sepolia']
  world = await createWorld({ senderCount: 1, terms: { ...terms, extras: ['testDollar'] } })
  dollar = world.contracts.testDollar ?? ''
})
afterAll(() => world?.stop())

const send = (to: string, name: string, parameters: unknown[]) =>
  world.rpc('eth_sendTransaction', [
    { from: owner, to, data: contracts.encodeFunctionData(name, parameters), gas: '0xf4240' },
  ])
const dollarsOf = (address: string) =>
  readBalance(world.driver().client, { token: dollar, owner: address })

/** A full withdrawal: 3 USD when it was planned, 1 USD more when it was executed. */
async function withdrawMore() {
  const wallet = await world.createWallet(0n)
  const pool = world.contracts.aavePool
  await send(dollar, 'mint', [wallet.address, 3n * usdcUnits])
  await send(dollar, 'mint', [owner, usdcUnits])
  await send(dollar, 'approve', [pool, MaxUint256])
  await world.mine()
  await world.index()
  const [market] = world.chain.markets
  if (!market) throw new Error('There is no market.')
  await lendIn(world, wallet, market, 3n * usdcUnits)
  const intent = await planWithdrawal(world, wallet, 'max')
  await send(pool, 'supply', [dollar, usdcUnits, wallet.address, 0])
  const { operationId } = await submitStep(world, intent)
  await world.round()
  const arrived = BigInt((await world.row(operationId))?.units ?? 0)
  return { wallet, intent, arrived, step: intent.plan?.steps[1] as SwapStep }
}

/** Queues the swap and signs it; its input and its minimum. */
async function signSwap(intent: Parameters<typeof submitStep>[1]) {
  const { operationId } = await submitStep(world, intent, 2)
  await world.sign()
  const row = await world.row(operationId)
  expect(row).toMatchObject({ state: 'signed' })
  const { data } = Transaction.from((await world.sends()).at(-1)?.raw ?? '')
  const [[included]] = entryPoint.decodeFunctionData('handleOps', data) as unknown as [
    [{ callData: string }],
  ]
  const [calls] = contracts.decodeFunctionData('executeBatch', included.callData) as unknown as [
    { data: string }[],
  ]
  const [order] = contracts.decodeFunctionData('exactInputSingle', calls.at(-1)?.data ?? '')
  const { amountIn, amountOutMinimum } = order as Record<string, bigint>
  return { operationId, amountIn, amountOutMinimum }
}

/** Never below the proportional minimum. */
const scaled = ({ minimum, amount }: SwapStep, units: bigint) =>
  divideUp(assetUnits(minimum) * units, assetUnits(amount))

describe('a swap', () => {
  test('of the planned amount requires the planned minimum', async () => {
    const { intent, step, arrived } = await withdrawMore()
    const minimum = assetText(scaled(step, arrived))
    await forge(world, intent.id, 2, { amount: assetText(arrived), minimum })
    const signed = await signSwap(intent)
    expect(signed.amountIn).toBe(arrived)
    expect(signed.amountOutMinimum).toBe(assetUnits(minimum))
    await world.round()
    const done = { state: 'confirmed', success: true }
    expect(await world.row(signed.operationId)).toMatchObject(done)
  })
})

describe('a swap whose input differs from its plan', () => {
  test('spends more when more has arrived, with a proportional minimum', async () => {
    const { wallet, intent, arrived, step } = await withdrawMore()
    expect(arrived).toBeGreaterThanOrEqual(4n * usdcUnits - 2n)
    expect(assetUnits(step.amount)).toBeLessThan(arrived)
    const signed = await signSwap(intent)
    expect(signed.amountIn).toBe(arrived)
    expect(signed.amountOutMinimum).toBe(scaled(step, arrived))
    expect(signed.amountOutMinimum).toBeGreaterThan(assetUnits(step.minimum))
    await world.round()
    const done = { state: 'confirmed', success: true }
    expect(await world.row(signed.operationId)).toMatchObject(done)
    expect(await dollarsOf(wallet.address)).toBe(0n)
    expect(await world.usdcOf(wallet.address)).toBeGreaterThanOrEqual(scaled(step, arrived))
  })

  test('spends less when less has arrived, with a proportional minimum', async () => {
    const { wallet, intent, arrived, step } = await withdrawMore()
    const twice = (amount: string) => assetText(2n * assetUnits(amount))
    const planned = { ...step, amount: twice(step.amount), minimum: twice(step.minimum) }
    await forge(world, intent.id, 2, { amount: planned.amount, minimum: planned.minimum })
    const signed = await signSwap(intent)
    expect(signed.amountIn).toBe(arrived)
    expect(signed.amountIn).toBeLessThan(assetUnits(planned.amount))
    expect(signed.amountOutMinimum).toBe(scaled(planned, arrived))
    await world.round()
    const done = { state: 'confirmed', success: true }
    expect(await world.row(signed.operationId)).toMatchObject(done)
    expect(await dollarsOf(wallet.address)).toBe(0n)
    expect(await world.usdcOf(wallet.address)).toBeGreaterThanOrEqual(scaled(planned, arrived))
  })
})
