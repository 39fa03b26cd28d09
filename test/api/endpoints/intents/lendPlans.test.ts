import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { callRpc } from '../../../../dev/devnet/rpc.js'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import { bridgeNotBegun } from './begun.js'
import type { ApiResponse } from '../../api.js'

const usdc = 1_000_000n

let world: ChainWorld

beforeAll(async () => {
  world = await startChainWorld()
})
afterAll(() => world?.stop())

type LendPlan = {
  strategy: string
  targetChain: string
  steps: Record<string, unknown>[]
  reasoning: string
}
const planOf = ({ body }: ApiResponse) => body.executionPlan as LendPlan
const reservationsOf = ({ body }: ApiResponse) =>
  world.database.db('reservation').where({ intent_id: body.id }).orderBy('sequence')

/** A gwei of base fee everywhere. What fresh nodes ask for falls with each block that they have made. */
async function makeGasDear(): Promise<void> {
  for (const url of Object.values(world.chains.urls)) {
    await callRpc(url, 'anvil_setNextBlockBaseFeePerGas', [toQuantity(10n ** 9n)])
    await callRpc(url, 'evm_mine')
  }
  await world.chains.index(world.database.db)
}

describe('POST /v1/intents: a lend from another chain', () => {
  test('201: over one bridge to the best rate, less the fee', async () => {
    const { id } = await world.newWallet({ 'arbitrum-sepolia': 20n * usdc })
    await makeGasDear()
    const answer = await world.lend(id, 12.5)
    expect(answer.status).toBe(201)
    expect(planOf(answer)).toEqual({
      strategy: 'single-bridge',
      ...{ targetChain: 'base-sepolia', targetAlias: 'base', targetProtocol: 'aave-v3' },
      expectedApy: expect.closeTo(4.12, 2),
      steps: [
        {
          ...{ type: 'bridge', sequence: 1, from: 'arbitrum-sepolia', to: 'base-sepolia' },
          ...{ fromAlias: 'arbitrum', toAlias: 'base' },
          ...{ protocol: 'cctp', asset: 'USDC', amount: '12.5', speed: 'fast' },
          ...{ maxFee: '0.0015', arrives: '12.49875' },
          ...bridgeNotBegun('arbitrum-sepolia', 'base-sepolia'),
        },
        {
          ...{ type: 'deposit', sequence: 2, chain: 'base-sepolia', alias: 'base' },
          ...{ protocol: 'aave-v3', asset: 'USDC', amount: '12.49875', status: 'pending' },
        },
      ],
      estimatedGasUsd: expect.any(Number),
      estimatedTime: '3-18 seconds',
      reasoning: expect.stringContaining('bridge fee of 0.00125 USDC'),
      warnings: [{ code: 'NOT_WORTH_IT', message: expect.any(String) }],
      alternatives: [
        ...['base-sepolia', 'arbitrum-sepolia', 'ethereum-sepolia', 'ethereum-sepolia'],
      ].map((chain): unknown => {
        const alias = chain.replace('-sepolia', '')
        return expect.objectContaining({ chain, alias, why: expect.any(String) })
      }),
    })
  })

  test('a step with input of another step reserves nothing before the money arrives', async () => {
    const { id } = await world.newWallet({ 'arbitrum-sepolia': usdc })
    expect(await reservationsOf(await world.lend(id, 1))).toMatchObject([
      { sequence: 1, chain_id: 421_614n, units: '1000000', from_block: 0n, fed_by: null },
      { sequence: 2, chain_id: 84_532n, units: '999900', from_block: null, fed_by: 1 },
    ])
  })

  test('takes the money from a chain that alone holds enough', async () => {
    const { id } = await world.newWallet({ 'ethereum-sepolia': 9n * usdc, 'arbitrum-sepolia': 1n })
    const steps = [{ from: 'ethereum-sepolia' }, { chain: 'base-sepolia' }]
    expect(planOf(await world.lend(id, 5))).toMatchObject({ steps })
  })

  test('needs no bridge for money that is where it pays most', async () => {
    const money = { 'base-sepolia': 5n * usdc, 'arbitrum-sepolia': 9n * usdc }
    const { id } = await world.newWallet(money)
    expect(planOf(await world.lend(id, 5))).toMatchObject({ strategy: 'direct-deposit' })
  })

  test('error: INSUFFICIENT_FUNDS when only several chains together hold enough', async () => {
    const { id } = await world.newWallet({ 'base-sepolia': 3n * usdc, 'arbitrum-sepolia': usdc })
    const { status, body } = await world.lend(id, 4)
    expect([status, body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(body.details).toMatchObject({ required: '4', available: '3' })
    expect(body.message).toContain('Several chains together have 4 USDC.')
  })
})

describe('POST /v1/intents: a lend to a market of another dollar', () => {
  test('201: swaps first, with the minimum output', async () => {
    const { id } = await world.newWallet({ 'ethereum-sepolia': usdc })
    const { steps, strategy } = planOf(await world.lend(id, 1, { chain: 'ethereum' }))
    const chain = 'ethereum-sepolia'
    expect([strategy, steps]).toEqual([
      'direct-deposit',
      [
        {
          ...{ type: 'swap', sequence: 1, chain, alias: 'ethereum', protocol: 'uniswap-v3' },
          ...{ asset: 'USDC', amount: '1', toAsset: 'TUSD', arrives: expect.any(String) },
          minimum: expect.any(String),
          status: 'pending',
        },
        {
          type: 'deposit',
          sequence: 2,
          chain,
          alias: 'ethereum',
          protocol: 'aave-v3',
          asset: 'TUSD',
          amount: expect.any(String),
          status: 'pending',
        },
      ],
    ])
    const [swap, deposit] = steps
    expect(deposit?.amount).toBe(swap?.arrives)
    expect(Number(swap?.minimum)).toBeLessThan(Number(swap?.arrives))
    expect(Number(swap?.arrives)).toBeLessThan(1)
  })

  test('what is swapped is reserved in USDC, what is deposited only when it is there', async () => {
    const { id } = await world.newWallet({ 'ethereum-sepolia': usdc })
    const token = world.chains.registry.get('ethereum-sepolia').usdc.address.toLowerCase()
    expect(await reservationsOf(await world.lend(id, 1, { chain: 'ethereum' }))).toMatchObject([
      { sequence: 1, token, units: '1000000', fed_by: null },
      { sequence: 2, token: expect.not.stringMatching(token), from_block: null, fed_by: 1 },
    ])
  })
})

describe('POST /v1/intents: optimize', () => {
  const net = { optimize: 'net' }

  test('`net` stays when a move costs more than it earns', async () => {
    const { id } = await world.newWallet({ 'arbitrum-sepolia': 10n * usdc })
    for (const wish of [net, { ...net, horizonDays: 1 }]) {
      expect(planOf(await world.lend(id, 1, wish)).targetChain).toBe('arbitrum-sepolia')
    }
  })

  test('`net` moves when there is time to earn the costs', async () => {
    const { id } = await world.newWallet({ 'arbitrum-sepolia': 10_000n * usdc })
    const plan = planOf(await world.lend(id, 10_000, { ...net, horizonDays: 3_650 }))
    expect(plan).toMatchObject({ targetChain: 'base-sepolia', strategy: 'single-bridge' })
  })

  test('`net` counts 30 days when none are named, and is stored', async () => {
    const { id } = await world.newWallet({ 'base-sepolia': 2n * usdc })
    const days = async (wish: object) => {
      const { body } = await world.lend(id, 1, wish)
      const row = await world.database.db('intent').where({ id: body.id }).first<object>()
      return (row as { net_over_days: number | null }).net_over_days
    }
    expect([await days(net), await days({ optimize: 'apy' })]).toEqual([30, null])
  })

  test.each([
    ['optimize', { optimize: 'gas' }],
    ['optimize', { optimize: null }],
    ['horizonDays', { ...net, horizonDays: 0 }],
    ['horizonDays', { ...net, horizonDays: 3_651 }],
    ['horizonDays', { ...net, horizonDays: 1.5 }],
    ['horizonDays', { ...net, horizonDays: '30' }],
    ['horizonDays', { horizonDays: 30 }],
    ['horizonDays', { optimize: 'apy', horizonDays: 30 }],
    ['optimize', { ...net, action: 'withdraw', chain: 'base' }],
    ['horizonDays', { horizonDays: 1, action: 'bridge', fromChain: 'base', toChain: 'ethereum' }],
  ])('error: INVALID_REQUEST names %s in %j', async (path, more) => {
    const { status, body } = await world.lend('w', 1, more)
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.issues).toEqual([{ path, message: expect.any(String) }])
  })
})
