import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { lockContended } from '../../operations/signing/contending.js'
import { poolOf as marketPoolOf } from '../../evm/lending/markets.js'
import { isBlocked } from '../support/blocked.js'
import { createWorld, usdcUnits, type Lend, type World } from '../relayer/world/fixture.js'
import { configure } from '../relayer/world/scenes/freeze.js'
import { leaveCapacity, poolOf, setCash } from '../relayer/world/limits.js'
import { lendIn, planWithdrawal, submitStep } from '../relayer/world/planned.js'
import type { Submitted } from '../relayer/world/fixture.js'

const multicall = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool success, bytes returnData)[])',
])
type AggregateArguments = { callData: string }
type AggregateReturn = [boolean, string]
/** `totalSupply()`, and its revert when a block's time is before that of the block's changes. */
const TOTAL_SUPPLY = '18160ddd'
const OVERFLOW = `0x4e487b71${'11'.padStart(64, '0')}`

let world: World

beforeAll(async () => {
  world = await createWorld({ senderCount: 2 })
})
afterAll(() => world?.stop())

/** Two concurrent signers with their own names, and the execution of what they signed. */
async function signTwice(): Promise<void> {
  await Promise.all([world.sign(), world.sign(world.createSigner('other'))])
}
async function include(): Promise<void> {
  await world.broadcast()
  await world.mine()
  await world.index()
}
const rowsOf = (all: Submitted[]) =>
  Promise.all(all.map(({ operationId }) => world.row(operationId)))
async function statesOf(all: Submitted[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const row of await rowsOf(all)) {
    const state = `${row?.state}${row?.success === false ? ' failed' : ''}`
    counts[state] = (counts[state] ?? 0) + 1
  }
  return counts
}
async function retryAll(all: Submitted[]): Promise<void> {
  for (const one of all) await world.retryNow(one)
}

describe('deposits above the cap of a market', () => {
  afterEach(() => configure(world, 'setSupplyCap', 0n))

  async function lendEach(count: number, units: bigint): Promise<Lend[]> {
    const wallets = await world.createWallets(count, units)
    return Promise.all(wallets.map((wallet) => world.lend(wallet, units)))
  }

  test('the ones that fit together are signed, the others wait with the reason, and none fails on the chain', async () => {
    const capacity = await leaveCapacity(world, 4n)
    // Two fit and a third one does not, with any interest in between.
    const all = await lendEach(8, capacity / 2n - 100_000n)
    await signTwice()
    expect(await statesOf(all)).toEqual({ signed: 2, deferred: 6 })
    const waiting = (await rowsOf(all)).filter((row) => row?.state === 'deferred')
    for (const row of waiting) {
      expect(row).toMatchObject({ code: 'DEPOSIT_FAILED', refused_block: null, payload: null })
      expect(row?.message).toMatch(/^aave-v3 on arbitrum-sepolia accepts at most [\d.]+ now/)
    }
    await include()
    expect(await statesOf(all)).toEqual({ confirmed: 2, deferred: 6 })

    // The market stays full, which does not count as a refusal.
    for (let i = 0; i < 3; i++) {
      await world.mine()
      await world.index()
      await retryAll(all)
      await signTwice()
      expect(await statesOf(all)).toEqual({ confirmed: 2, deferred: 6 })
    }
    await leaveCapacity(world, 100n)
    await retryAll(all)
    await signTwice()
    await include()
    expect(await statesOf(all)).toEqual({ confirmed: 8 })
  })

  test('a waiting deposit is served before a later one, unless it is too large for the market', async () => {
    const capacity = await leaveCapacity(world, 4n)
    const [first] = await lendEach(1, (capacity * 6n) / 10n)
    await world.sign()
    const [second, larger] = [
      ...(await lendEach(1, (capacity * 9n) / 10n)),
      ...(await lendEach(1, 2n * capacity)),
    ]
    await world.sign()
    expect(await statesOf([first, second, larger] as Lend[])).toEqual({ signed: 1, deferred: 2 })
    const [third] = await lendEach(1, capacity / 10n)
    await world.sign()
    // The remaining capacity would fit the third one, but the second one was first.
    expect(await world.row((third as Lend).operationId)).toMatchObject({ state: 'deferred' })
    await include()
    // The second one can never fit now, so the third one need not wait for it.
    await retryAll([third as Lend])
    await world.sign()
    await include()
    expect(await world.row((third as Lend).operationId)).toMatchObject({ state: 'confirmed' })
    await configure(world, 'setSupplyCap', 0n)
    await world.index()
    await retryAll([second, larger] as Lend[])
    await world.round()
    expect(await statesOf([second, larger] as Lend[])).toEqual({ confirmed: 2 })
  })

  test('a market without a cap that reverts once during a block import accepts all', async () => {
    const all = await lendEach(3, usdcUnits)
    let hasReverted = false
    world.proxy.set(async ({ method, params }) => {
      const { data = '' } = (params[0] ?? {}) as { data?: string }
      if (hasReverted || method !== 'eth_call' || !data.includes(TOTAL_SUPPLY)) return undefined
      hasReverted = true
      const reported = await world.rpc<string>(method, params)
      const [calls] = multicall.decodeFunctionData('aggregate3', data) as unknown as [
        AggregateArguments[],
      ]
      const [results] = multicall.decodeFunctionResult('aggregate3', reported) as unknown as [
        AggregateReturn[],
      ]
      const answers = results.map((result, i) =>
        calls[i]?.callData === `0x${TOTAL_SUPPLY}` ? [false, OVERFLOW] : [...result],
      )
      return { answer: multicall.encodeFunctionResult('aggregate3', [answers]) }
    })
    await world.sign()
    world.proxy.set(undefined)
    expect(hasReverted).toBe(true)
    expect(await statesOf(all)).toEqual({ signed: 3 })
    await include()
  })

  test('concurrent signers decide one after the other', async () => {
    await leaveCapacity(world, 4n)
    const [lend] = (await lendEach(1, usdcUnits)) as [Lend]
    const deciding = await world.db.transaction()
    await lockContended(deciding, world.chain.chainId, [`deposit:${marketPoolOf(poolOf(world))}`])
    let hasEnded = false
    const signing = world.sign().finally(() => (hasEnded = true))
    await world.waitUntil(async () => hasEnded || (await isBlocked(world.db)))
    const meanwhile = await statesOf([lend])
    await deciding.commit()
    await signing
    expect(meanwhile).toEqual({ queued: 1 })
    expect(await statesOf([lend])).toEqual({ signed: 1 })
    await include()
  })

  test('a closed market refuses', async () => {
    await leaveCapacity(world, 4n)
    const [lend] = await lendEach(1, 100n * usdcUnits)
    await configure(world, 'setReserveFreeze', true)
    await world.index()
    for (let i = 0; i < 2; i++) {
      await world.sign()
      await world.mine()
      await world.index()
      await retryAll([lend as Lend])
    }
    const refused = { state: 'rejected', code: 'DEPOSIT_FAILED' }
    expect(await world.row((lend as Lend).operationId)).toMatchObject(refused)
    await configure(world, 'setReserveFreeze', false)
    await world.index()
  })
})

describe('withdrawals above the cash of a market', () => {
  test('the ones that can be paid together are signed, the others when there is more cash', async () => {
    const units = 3n * usdcUnits
    const wallets = await world.createWallets(4, units)
    for (const wallet of wallets) await lendIn(world, wallet, poolOf(world), units)
    const all: Submitted[] = []
    for (const wallet of wallets) {
      all.push(await submitStep(world, await planWithdrawal(world, wallet, 2n * usdcUnits)))
    }
    await setCash(world, 5n * usdcUnits)
    await signTwice()
    expect(await statesOf(all)).toEqual({ signed: 2, deferred: 2 })
    const waiting = (await rowsOf(all)).filter((row) => row?.state === 'deferred')
    for (const row of waiting) {
      expect(row).toMatchObject({ code: 'WITHDRAW_FAILED', refused_block: null })
      expect(row?.message).toContain('pays out at most 5 now')
    }
    await include()
    await world.mine()
    await world.index()
    await retryAll(all)
    await world.sign()
    expect(await statesOf(all)).toEqual({ confirmed: 2, deferred: 2 })
    await setCash(world, 100_000n * usdcUnits)
    await retryAll(all)
    await signTwice()
    await include()
    expect(await statesOf(all)).toEqual({ confirmed: 4 })
  })
})
