import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readBalance } from '../../../evm/read.js'
import { type Chain } from '../../../evm/registry.js'
import { encodeApprove } from '../../../evm/calls/approve.js'
import { startChains, type TestChains } from '../../planning/chains.js'
import { refusal } from './bridge.js'
import { sendFrom, users } from './send.js'

const [wallet] = users
const dollar = 1_000_000n
const fee = 100

/** The ABIs as Uniswap publishes them. */
const quoter = new Interface([
  `function quoteExactInputSingle(tuple(address tokenIn, address tokenOut, uint256 amountIn,
    uint24 fee, uint160 sqrtPriceLimitX96) params) returns (uint256 amountOut,
    uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)`,
])
const router = new Interface([
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable
    returns (uint256 amountOut)`,
])
const factory = new Interface(['function getPool(address, address, uint24) view returns (address)'])

let world: TestChains
let client: ChainClient
let uniswap: NonNullable<Chain['uniswap']>
let usdc: string
let testDollar: string
beforeAll(async () => {
  world = await startChains(['ethereum-sepolia'])
  client = world.chains.byId(11155111)
  const { chain } = client
  if (!chain.uniswap || !chain.otherTokens[0]) throw new Error('There is no pool.')
  ;({ uniswap } = chain)
  usdc = chain.usdc.address
  testDollar = chain.otherTokens[0].address
})
afterAll(() => world?.stop())

async function quote(tokenIn: string, tokenOut: string, amountIn: bigint): Promise<bigint> {
  const order = { tokenIn, tokenOut, amountIn, fee, sqrtPriceLimitX96: 0n }
  const data = quoter.encodeFunctionData('quoteExactInputSingle', [order])
  const answer = await client.send<string>('eth_call', [{ to: uniswap.quoter, data }, 'latest'])
  return quoter.decodeFunctionResult('quoteExactInputSingle', answer)[0] as bigint
}

function swapCall(tokenIn: string, tokenOut: string, amountIn: bigint, amountOutMinimum: bigint) {
  const order = { tokenIn, tokenOut, fee, recipient: wallet, amountIn, amountOutMinimum }
  const parameters = [{ ...order, sqrtPriceLimitX96: 0n }]
  return { to: uniswap.router, data: router.encodeFunctionData('exactInputSingle', parameters) }
}

const held = (token: string) => readBalance(client, { token, owner: wallet })

describe('the pool of USDC and the test dollar', () => {
  test('pays the quoted amount in both directions, for a fee of 0.01 %', async () => {
    const amount = 1_000n * dollar
    await world.mint('ethereum-sepolia', wallet, amount)
    const forth = await quote(usdc, testDollar, amount)
    // The fee, and at most as much for the price impact.
    expect(forth).toBeLessThan(999_900_001n)
    expect(forth).toBeGreaterThan(999_800_000n)
    await sendFrom(client, wallet, encodeApprove(usdc, uniswap.router, amount))
    await sendFrom(client, wallet, swapCall(usdc, testDollar, amount, forth))
    expect([await held(usdc), await held(testDollar)]).toEqual([0n, forth])

    const back = await quote(testDollar, usdc, forth)
    await sendFrom(client, wallet, encodeApprove(testDollar, uniswap.router, forth))
    await sendFrom(client, wallet, swapCall(testDollar, usdc, forth, back))
    expect([await held(usdc), await held(testDollar)]).toEqual([back, 0n])
  })

  test('reverts below the minimum output', async () => {
    const amount = 10n * dollar
    await world.mint('ethereum-sepolia', wallet, amount)
    await sendFrom(client, wallet, encodeApprove(usdc, uniswap.router, amount))
    const least = (await quote(usdc, testDollar, amount)) + 1n
    const call = swapCall(usdc, testDollar, amount, least)
    expect(await refusal(client, wallet, call)).toContain('Too little received')
  })

  test('has the address that the factory returns', async () => {
    const data = factory.encodeFunctionData('getPool', [usdc, testDollar, fee])
    const pool = await client.send<string>('eth_call', [{ to: uniswap.factory, data }, 'latest'])
    expect(BigInt(pool)).toBeGreaterThan(0n)
  })
})
