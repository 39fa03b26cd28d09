import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { lockContended } from '../../db/lanes/contending.js'
import { poolOf as marketPoolOf } from '../../protocols/lending/markets.js'
import { isBlocked } from '../support/blocked.js'
import { createWorld, usdcUnits, type Lend, type World } from './world/fixture.js'
import { configure } from './world/freeze.js'
import { leaveRoom, poolOf, setCash } from './world/limits.js'
import { lendIn, planWithdrawal, submitStep } from './world/planned.js'
import type { Submitted } from './world/fixture.js'

const multicall = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool success, bytes returnData)[])',
])
type Call = { callData: string }
type Result = [boolean, string]
/** `totalSupply()`, and what it says when the time of a block is before that of what the block has changed. */
const TOTAL_SUPPLY = '18160ddd'
const OVERFLOW = `0x4e487b71${'11'.padStart(64, '0')}`

let world: World

beforeAll(async () => {
  world = await createWorld({ lanes: 2 })
})
afterAll(() => world?.stop())

/** Two signers at once, each with its own name, and what they have signed carried out. */
async function signTwice(): Promise<void> {
  await Promise.all([world.sign(), world.sign(world.createSigner('other'))])
}
async function carry(): Promise<void> {
  await world.broadcast()
  await world.mine()
  await world.book()
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

  test('those that fit together are signed, the others wait and say why; none fails inside', async () => {
    const room = await leaveRoom(world, 4n)
    // Two fit and a third does not, whatever interest the blocks until then add.
    const all = await lendEach(8, room / 2n - 100_000n)
    await signTwice()
    expect(await statesOf(all)).toEqual({ signed: 2, deferred: 6 })
    const waiting = (await rowsOf(all)).filter((row) => row?.state === 'deferred')
    for (const row of waiting) {
      expect(row).toMatchObject({ code: 'DEPOSIT_FAILED', refused_block: null, payload: null })
      expect(row?.message).toMatch(/^aave-v3 on arbitrum-sepolia accepts at most [\d.]+ now/)
    }
    await carry()
    expect(await statesOf(all)).toEqual({ confirmed: 2, deferred: 6 })

    // The market is full for long: it is no refusal, however often it is tried.
    for (let i = 0; i < 3; i++) {
      await world.mine()
      await world.book()
      await retryAll(all)
      await signTwice()
      expect(await statesOf(all)).toEqual({ confirmed: 2, deferred: 6 })
    }
    await leaveRoom(world, 100n)
    await retryAll(all)
    await signTwice()
    await carry()
    expect(await statesOf(all)).toEqual({ confirmed: 8 })
  })

  test('one that waits for room is served before one that came later, and nobody waits for one too large', async () => {
    const room = await leaveRoom(world, 4n)
    const [first] = await lendEach(1, (room * 6n) / 10n)
    await world.sign()
    const [second, larger] = [
      ...(await lendEach(1, (room * 9n) / 10n)),
      ...(await lendEach(1, 2n * room)),
    ]
    await world.sign()
    expect(await statesOf([first, second, larger] as Lend[])).toEqual({ signed: 1, deferred: 2 })
    const [third] = await lendEach(1, room / 10n)
    await world.sign()
    // The room that is left would do for the third one, but the second one came before.
    expect(await world.row((third as Lend).operationId)).toMatchObject({ state: 'deferred' })
    await carry()
    // Now the second one can never be served by this room: nobody waits for it.
    await retryAll([third as Lend])
    await world.sign()
    await carry()
    expect(await world.row((third as Lend).operationId)).toMatchObject({ state: 'confirmed' })
    await configure(world, 'setSupplyCap', 0n)
    await world.book()
    await retryAll([second, larger] as Lend[])
    await world.round()
    expect(await statesOf([second, larger] as Lend[])).toEqual({ confirmed: 2 })
  })

  test('a market without a cap that once did not tell of it, while a block came in, takes all', async () => {
    const all = await lendEach(3, usdcUnits)
    let isToldOnce = false
    world.proxy.set(async ({ method, params }) => {
      const { data = '' } = (params[0] ?? {}) as { data?: string }
      if (isToldOnce || method !== 'eth_call' || !data.includes(TOTAL_SUPPLY)) return undefined
      isToldOnce = true
      const told = await world.rpc<string>(method, params)
      const [calls] = multicall.decodeFunctionData('aggregate3', data) as unknown as [Call[]]
      const [results] = multicall.decodeFunctionResult('aggregate3', told) as unknown as [Result[]]
      const answers = results.map((result, i) =>
        calls[i]?.callData === `0x${TOTAL_SUPPLY}` ? [false, OVERFLOW] : [...result],
      )
      return { answer: multicall.encodeFunctionResult('aggregate3', [answers]) }
    })
    await world.sign()
    world.proxy.set(undefined)
    expect(isToldOnce).toBe(true)
    expect(await statesOf(all)).toEqual({ signed: 3 })
    await carry()
  })

  test('who fits is decided by one signer after the other', async () => {
    await leaveRoom(world, 4n)
    const [lend] = (await lendEach(1, usdcUnits)) as [Lend]
    const deciding = await world.db.transaction()
    await lockContended(deciding, world.chain.chainId, [`deposit:${marketPoolOf(poolOf(world))}`])
    let isOver = false
    const signing = world.sign().finally(() => (isOver = true))
    await world.waitUntil(async () => isOver || (await isBlocked(world.db)))
    const meanwhile = await statesOf([lend])
    await deciding.commit()
    await signing
    expect(meanwhile).toEqual({ queued: 1 })
    expect(await statesOf([lend])).toEqual({ signed: 1 })
    await carry()
  })

  test('a market that is closed refuses as before', async () => {
    await leaveRoom(world, 4n)
    const [lend] = await lendEach(1, 100n * usdcUnits)
    await configure(world, 'setReserveFreeze', true)
    await world.book()
    for (let i = 0; i < 2; i++) {
      await world.sign()
      await world.mine()
      await world.book()
      await retryAll([lend as Lend])
    }
    const refused = { state: 'rejected', code: 'DEPOSIT_FAILED' }
    expect(await world.row((lend as Lend).operationId)).toMatchObject(refused)
    await configure(world, 'setReserveFreeze', false)
    await world.book()
  })
})

describe('withdrawals above what a market can pay out', () => {
  test('those that can be paid together are signed, the others when there is more', async () => {
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
    await carry()
    await world.mine()
    await world.book()
    await retryAll(all)
    await world.sign()
    expect(await statesOf(all)).toEqual({ confirmed: 2, deferred: 2 })
    await setCash(world, 100_000n * usdcUnits)
    await retryAll(all)
    await signTwice()
    await carry()
    expect(await statesOf(all)).toEqual({ confirmed: 4 })
  })
})
