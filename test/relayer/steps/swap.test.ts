import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface, MaxUint256 } from 'ethers'
import { readBalance } from '../../../evm/read.js'
import { devnetTerms } from '../../../dev/devnet/chains.js'
import { createWorld, finalityBlocks, owner, usdcUnits, type World } from '../world/fixture.js'
import { lendIn, planWithdrawal, submitStep } from '../world/planned.js'
import type { SwapStep } from '../../../domain/intent/intent.js'

const million = 1_000_000n * usdcUnits
const token = new Interface([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
])
const router = new Interface([
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

const send = (to: string, abi: Interface, name: string, parameters: unknown[]) =>
  world.rpc('eth_sendTransaction', [
    { from: owner, to, data: abi.encodeFunctionData(name, parameters), gas: '0xf4240' },
  ])
const dollarsOf = (address: string) =>
  readBalance(world.driver().client, { token: dollar, owner: address })

/** A withdrawal whose money has arrived and waits for its swap. */
async function withdrawn(units = 3n * usdcUnits) {
  const wallet = await world.createWallet(0n)
  await send(dollar, token, 'mint', [wallet.address, units])
  await world.mine()
  await world.index()
  const [market] = world.chain.markets
  if (!market) throw new Error('There is no market.')
  await lendIn(world, wallet, market, units)
  const intent = await planWithdrawal(world, wallet, 'max')
  const { operationId } = await submitStep(world, intent)
  await world.round()
  const arrived = BigInt((await world.row(operationId))?.units ?? 0)
  const step = intent.plan?.steps[1] as SwapStep
  const swap = () => submitStep(world, intent, 2)
  return { wallet, intent, arrived, step, swap }
}

/** A foreign account changes much in the same pool. */
async function moveThePrice(from: string, to: string) {
  const contract = world.chain.uniswap?.router ?? ''
  await send(from, token, 'mint', [owner, million])
  await send(from, token, 'approve', [contract, MaxUint256])
  const order = [from, to, 100, owner, (million * 9n) / 10n, 0, 0]
  await send(contract, router, 'exactInputSingle', [order])
  await world.mine()
}

describe('a swap', () => {
  test('spends the output of the withdrawal, for at least the planned minimum', async () => {
    const { wallet, intent, arrived, step, swap } = await withdrawn()
    expect(arrived).toBeGreaterThanOrEqual(3n * usdcUnits - 2n)
    const fed = { units: arrived.toString(), from_block: expect.any(BigInt), spent_block: null }
    expect(await world.reservation(intent.id, 2)).toMatchObject(fed)
    const { operationId } = await swap()
    await world.round()
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true })
    const got = await world.usdcOf(wallet.address)
    expect(row?.units).toBe(got.toString())
    expect(Number(got)).toBeGreaterThanOrEqual(Number(step.minimum) * 1e6)
    expect(await dollarsOf(wallet.address)).toBe(0n)
    const spent = { spent_block: row?.block_number }
    expect(await world.reservation(intent.id, 2)).toMatchObject(spent)
  })

  test('waits while a reorg has removed its withdrawal', async () => {
    const { wallet, intent, swap } = await withdrawn()
    const { operationId } = await swap()
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    expect(await world.reservation(intent.id, 2)).toMatchObject({ from_block: null })
    await world.sign()
    expect(await world.row(operationId)).toMatchObject({ state: 'queued', payload: null })
    await world.round()
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await dollarsOf(wallet.address)).toBe(0n)
  })

  test('spends what has arrived on the chain, not what its row names', async () => {
    const { wallet, swap } = await withdrawn()
    const { operationId } = await swap()
    await world.db('operation').where({ id: operationId }).update({ input_units: '1' })
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await dollarsOf(wallet.address)).toBe(0n)
  })

  test('is not signed at a bad price, and executed when the price is good again', async () => {
    const { wallet, swap } = await withdrawn()
    await moveThePrice(dollar, world.chain.usdc.address)
    await world.index()
    const submitted = await swap()
    for (let i = 0; i < 3; i++) {
      await world.sign()
      const waits = { state: 'deferred', code: 'SWAP_FAILED', payload: null }
      expect(await world.row(submitted.operationId)).toMatchObject(waits)
      await world.mine()
      await world.index()
      await world.retryNow(submitted)
    }
    await moveThePrice(world.chain.usdc.address, dollar)
    await world.round()
    const done = { state: 'confirmed', success: true }
    expect(await world.row(submitted.operationId)).toMatchObject(done)
    expect(await dollarsOf(wallet.address)).toBe(0n)
  })

  test('that meets a bad price after its signature moves nothing', async () => {
    const { wallet, intent, arrived, swap } = await withdrawn()
    const { operationId } = await swap()
    await world.sign()
    expect(await world.row(operationId)).toMatchObject({ state: 'signed' })
    await moveThePrice(dollar, world.chain.usdc.address)
    await world.broadcast()
    await world.mine()
    await world.index()
    const failed = { state: 'confirmed', success: false, units: null }
    expect(await world.row(operationId)).toMatchObject(failed)
    expect(await dollarsOf(wallet.address)).toBe(arrived)
    await world.mine(finalityBlocks)
    await world.index()
    const free = { spent_block: null, released_at: expect.any(Date) }
    expect(await world.reservation(intent.id, 2)).toMatchObject(free)
  })
})
