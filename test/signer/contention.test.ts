import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface, MaxUint256 } from 'ethers'
import { insertIntent } from '../../db/intents/intents.js'
import { insertReservation } from '../../db/intents/reservations.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { insertCrossing, submitBurn } from '../relayer/bridge/crossing.js'
import {
  createWorld,
  owner,
  usdcUnits,
  type Submitted,
  type World,
} from '../relayer/world/fixture.js'
import { submitLend } from '../relayer/world/planned.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'
import type { StepPlan, SwapStep } from '../../domain/intent/intent.js'

const token = new Interface([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
])
const router = new Interface([
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)`,
])
/** One swap of this size moves the price of the devnet's pool beyond a swap's tolerance. */
const MUCH = 700_000n * usdcUnits

let world: World
let dollar: string

beforeAll(async () => {
  const terms = devnetTerms['ethereum-sepolia']
  world = await createWorld({
    senderCount: 2,
    terms: { ...terms, extras: ['testDollar', 'comet'] },
  })
  dollar = world.contracts.testDollar ?? ''
})
afterAll(() => world?.stop())

const send = (to: string, abi: Interface, name: string, parameters: unknown[]) =>
  world.rpc('eth_sendTransaction', [
    { from: owner, to, data: abi.encodeFunctionData(name, parameters), gas: '0xf4240' },
  ])

async function walletWithDollars(units: bigint): Promise<StoredWallet> {
  const wallet = await world.createWallet(0n)
  await send(dollar, token, 'mint', [wallet.address, units])
  await world.mine()
  await world.index()
  return wallet
}

/** A planned and queued swap of test dollars in a wallet. */
async function submitSwap(wallet: StoredWallet, units: bigint): Promise<Submitted> {
  const { chainId, name: chain } = world.chain
  const amount = (Number(units) / 1e6).toString()
  const minimum = ((Number(units) / 1e6) * 0.995).toFixed(6)
  const step: SwapStep = {
    ...{ type: 'swap', sequence: 1, chain, protocol: 'uniswap-v3', asset: 'TUSD', amount },
    ...{ toAsset: 'USDC', arrives: amount, minimum },
  }
  const plan: StepPlan = {
    ...{ strategy: 'direct-withdraw', targetChain: chain, steps: [step], estimatedGasUsd: 0 },
    ...{ estimatedTime: '1-5 seconds', reasoning: 'test' },
  }
  const { id: walletId, accountId } = wallet
  const request = { action: 'withdraw', asset: 'USDC', amountUnits: units, chain } as const
  const owning = { accountId, walletId, requestId: 'req' }
  const { id: intentId } = await insertIntent(world.db, owning, { request, units, plan })
  const place = { intentId, sequence: 1, walletId, chainId }
  await insertReservation(world.db, { ...place, token: dollar, units })
  return world.submit({ intentId, sequence: 1, kind: 'swap', accountId, walletId, chainId })
}

async function moveThePrice(from: string, to: string, units: bigint): Promise<void> {
  const contract = world.chain.uniswap?.router ?? ''
  await send(from, token, 'mint', [owner, units])
  await send(from, token, 'approve', [contract, MaxUint256])
  await send(contract, router, 'exactInputSingle', [[from, to, 100, owner, units, 0, 0]])
  await world.mine()
  await world.index()
}

/** Waits until the pool's average price has forgotten the move. */
async function letPricesSettle(): Promise<void> {
  await world.rpc('evm_increaseTime', [3_600])
  await world.mine(2)
  await world.index()
}

async function signTwice(): Promise<void> {
  await Promise.all([world.sign(), world.sign(world.createSigner('other'))])
}
async function include(): Promise<void> {
  await world.broadcast()
  await world.mine()
  await world.index()
}
async function statesOf(all: Submitted[]): Promise<string[]> {
  const rows = await Promise.all(all.map(({ operationId }) => world.row(operationId)))
  return rows.map((row) => `${row?.state}${row?.success === false ? ' failed' : ''}`).sort()
}
/** Clears the retry times of the operations that wait for their turn. */
const clearRetryTimes = (all: Submitted[]) =>
  world
    .db('operation')
    .whereIn(
      'id',
      all.map(({ operationId }) => operationId),
    )
    .update({ leased_until: null })

describe('swaps of one pair', () => {
  test('of many wallets, by two senders and two signers, run one at a time in order', async () => {
    const all: Submitted[] = []
    for (let i = 0; i < 6; i++) {
      all.push(await submitSwap(await walletWithDollars(3n * usdcUnits), 3n * usdcUnits))
    }
    for (let done = 0; done < all.length; done++) {
      await clearRetryTimes(all)
      await signTwice()
      const waiting = Array.from({ length: all.length - done - 1 }, () => 'queued')
      const confirmed = Array.from({ length: done }, () => 'confirmed')
      expect(await statesOf(all)).toEqual([...confirmed, ...waiting, 'signed'])
      await signTwice()
      expect((await statesOf(all)).filter((state) => state === 'signed')).toHaveLength(1)
      await include()
    }
    expect(await statesOf(all)).toEqual(all.map(() => 'confirmed'))
  })

  test('a waiting one is not claimed and costs no request', async () => {
    const swap = async () => submitSwap(await walletWithDollars(3n * usdcUnits), 3n * usdcUnits)
    const all = [await swap(), await swap()]
    await world.sign()
    expect(await statesOf(all)).toEqual(['queued', 'signed'])
    await clearRetryTimes(all)
    expect(await world.sign()).toBe(false)
    await include()
    await clearRetryTimes(all)
    expect(await world.sign()).toBe(true)
    await include()
    expect(await statesOf(all)).toEqual(['confirmed', 'confirmed'])
  })

  test('that move the price too far together: the second one waits, and does not fail on the chain', async () => {
    const wallets = [await walletWithDollars(MUCH), await walletWithDollars(MUCH)]
    const all = [
      await submitSwap(wallets[0] as StoredWallet, MUCH),
      await submitSwap(wallets[1] as StoredWallet, MUCH),
    ]
    for (let i = 0; i < 2; i++) {
      await clearRetryTimes(all)
      await signTwice()
      await include()
    }
    expect(await statesOf(all)).toEqual(['confirmed', 'deferred'])
    const rows = await Promise.all(all.map(({ operationId }) => world.row(operationId)))
    const late = rows.find((row) => row?.state === 'deferred')
    expect(late).toMatchObject({ code: 'SWAP_FAILED', payload: null })
    await moveThePrice(world.chain.usdc.address, dollar, MUCH)
    await letPricesSettle()
    for (const one of all) await world.retryNow(one)
    await signTwice()
    await include()
    expect(await statesOf(all)).toEqual(['confirmed', 'confirmed'])
  })

  test('that a reorg has removed together are each executed once', async () => {
    await moveThePrice(world.chain.usdc.address, dollar, MUCH)
    await letPricesSettle()
    const wallets = [await walletWithDollars(usdcUnits), await walletWithDollars(usdcUnits)]
    const all: Submitted[] = []
    for (const wallet of wallets) {
      all.push(await submitSwap(wallet, usdcUnits))
      await clearRetryTimes(all)
      await world.sign()
      await include()
    }
    expect(await statesOf(all)).toEqual(['confirmed', 'confirmed'])
    await world.rpc('anvil_reorg', [2, []])
    await world.mine()
    await world.index()
    expect(await statesOf(all)).toEqual(['signed', 'signed'])
    const third = await submitSwap(await walletWithDollars(usdcUnits), usdcUnits)
    await signTwice()
    expect(await statesOf([third])).toEqual(['queued'])
    await include()
    expect(await statesOf(all)).toEqual(['confirmed', 'confirmed'])
    for (const { address } of wallets) {
      const got = await world.usdcOf(address)
      expect(got > (usdcUnits * 98n) / 100n && got < (usdcUnits * 102n) / 100n).toBe(true)
    }
    await clearRetryTimes([third])
    await signTwice()
    await include()
    expect(await statesOf([third])).toEqual(['confirmed'])
  })

  test('one without a transaction does not block the others', async () => {
    const [one, two] = [await walletWithDollars(usdcUnits), await walletWithDollars(usdcUnits)]
    const stuck = await submitSwap(one, usdcUnits)
    await world.sign()
    await world.broadcast()
    // Of two waiting ones, either sender may be first.
    const other = await submitSwap(two, usdcUnits)
    const later = new Date(Date.now() + 3_600_000)
    const included = world.db('operation').where({ id: stuck.operationId })
    expect(await statesOf([stuck])).toEqual(['signed'])
    await included.update({ tx_id: null, leased_until: later })
    await clearRetryTimes([other])
    await signTwice()
    expect(await statesOf([other])).toEqual(['signed'])
    await include()
    await clearRetryTimes([stuck])
    await world.sign()
    await include()
    expect(await statesOf([stuck, other])).toEqual(['confirmed', 'confirmed'])
  })
})

describe('burns of one wallet', () => {
  test('run one at a time, and other operations of the wallet do not wait for them', async () => {
    const wallet = await world.createWallet(10n * usdcUnits)
    const other = await world.createWallet(10n * usdcUnits)
    const comet = world.chain.markets.find(({ protocol }) => protocol === 'compound-v3')
    if (!comet) throw new Error('There is no Comet.')
    const burn = async (of: StoredWallet) =>
      submitBurn(world, await insertCrossing(world, of, usdcUnits, 'arbitrum-sepolia'))
    const all = [await burn(wallet), await burn(wallet)]
    const independent = [
      await burn(other),
      await submitLend(world, wallet, { market: comet, units: usdcUnits }),
    ]
    await signTwice()
    expect(await statesOf(all)).toEqual(['queued', 'signed'])
    expect(await statesOf(independent)).toEqual(['signed', 'signed'])
    await include()
    await clearRetryTimes(all)
    await signTwice()
    await include()
    expect(await statesOf([...all, ...independent])).toEqual(
      Array.from({ length: 4 }, () => 'confirmed'),
    )
  })

  test('the next one waits while the node has not seen the last one', async () => {
    const wallet = await world.createWallet(10n * usdcUnits)
    const burn = async () =>
      submitBurn(world, await insertCrossing(world, wallet, usdcUnits, 'arbitrum-sepolia'))
    const first = await burn()
    const second = await burn()
    await world.sign()
    const head = await world.rpc('eth_getBlockByNumber', ['latest', false])
    await include()
    world.proxy.set(({ method, params }) => {
      const isHead = method === 'eth_getBlockByNumber' && params[0] === 'latest'
      return isHead ? { answer: head } : undefined
    })
    await clearRetryTimes([second])
    await world.sign()
    expect(await statesOf([first, second])).toEqual(['confirmed', 'queued'])
    world.proxy.set(undefined)
    await clearRetryTimes([second])
    await world.sign()
    expect(await statesOf([first, second])).toEqual(['confirmed', 'signed'])
  })
})
