import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Transaction } from 'ethers'
import { executeFirst } from '../../relayer/world/scenes/stranger.js'
import { resubmitNow, forgetSent, replaceStuck, useLend } from '../../relayer/world/scenes/stuck.js'
import { createWorld, usdcUnits, type World } from '../../relayer/world/fixture.js'

const HOPELESS = 'intrinsic gas too low: have 21000, want 53000'

let world: World
const lent = useLend(() => world)

beforeAll(async () => {
  world = await createWorld({ senderCount: 1, changes: { stuckAfter: { seconds: 0, blocks: 1 } } })
})
afterEach(() => world.proxy.set(undefined))
afterAll(() => world?.stop())

/** The node rejects these bytes, and accepts all others. */
const refuse = (raw: string | undefined, message: string) =>
  world.proxy.set(({ params: [sent] }) =>
    raw && sent === raw ? { refuse: { code: -32_000, message } } : undefined,
  )
const sendTimes = async (times: number) => {
  for (let i = 0; i < times; i++) {
    forgetSent(world)
    await world.broadcast()
  }
}
const round = async () => {
  await world.broadcast()
  await world.mine()
  await world.index()
}

describe('bytes that every endpoint rejects permanently', () => {
  beforeEach(() => lent.begin())

  const refuseFirst = async (message: string, times = 3) => {
    refuse((await lent.sends())[0]?.raw, message)
    await sendTimes(times)
  }

  test('are replaced with an empty transfer, and their operations are resubmitted', async () => {
    await refuseFirst(HOPELESS)
    await replaceStuck(world)
    const [first, second] = (await lent.sends()).map(({ raw }) => Transaction.from(raw))
    expect(second).toMatchObject({ nonce: first?.nonce, to: first?.from, data: '0x', value: 0n })
    expect(Number(second?.gasLimit)).toBeLessThan(Number(first?.gasLimit) / 10)
    expect(await lent.row()).toMatchObject({ state: 'signed', tx_id: null })
    await round()
    expect(await lent.transaction()).toMatchObject({ state: 'mined', mined_send: 2 })
    await resubmitNow(world)
    await world.round()
    await lent.expectDone()
  })

  test('may still be mined, and their operations are executed once', async () => {
    await refuseFirst(HOPELESS)
    await replaceStuck(world)
    await resubmitNow(world)
    await world.sign()
    // Some node has accepted the old bytes, and its block comes first.
    await world.rpc('eth_sendRawTransaction', [(await lent.sends())[0]?.raw])
    await world.mine()
    await world.broadcast()
    await world.mine()
    await world.index()
    await lent.expectDone({ minedSend: 1 })
    const states = (await world.transactions()).map(({ state }) => state)
    expect(states).not.toContain('open')
  })

  test('are given up after the third rejection in a row', async () => {
    await refuseFirst(HOPELESS, 2)
    world.proxy.set(undefined)
    await sendTimes(1)
    await refuseFirst(HOPELESS, 2)
    await replaceStuck(world)
    expect(await lent.sends()).toHaveLength(1)
    world.proxy.set(undefined)
    await round()
    await lent.expectDone({ minedSend: 1 })
  })

  test.each([
    'nonce too low',
    'replacement transaction underpriced',
    'insufficient funds for gas * price + value',
    'max fee per gas less than block base fee',
    'already known',
    'txpool is full',
  ])('do not include the rejection: %s', async (message) => {
    await refuseFirst(message, 4)
    await replaceStuck(world)
    expect(await lent.sends()).toHaveLength(1)
    expect((await lent.row())?.tx_id).not.toBeNull()
    world.proxy.set(undefined)
    forgetSent(world)
    await round()
    await lent.expectDone({ minedSend: 1 })
  })
})

describe('a nonce without a needed operation', () => {
  // Any account may execute a signed operation once its wallet is delegated.
  beforeEach(async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    await lent.begin(wallet)
    await round()
    await lent.begin(wallet)
  })

  test('is freed with an empty transfer when its operations are confirmed elsewhere', async () => {
    refuse((await lent.sends())[0]?.raw, 'txpool is full')
    await world.broadcast()
    await executeFirst(world, lent.lend().operationId)
    await world.mine()
    await world.index()
    expect(await lent.row()).toMatchObject({ state: 'confirmed', success: true })
    await replaceStuck(world)
    const { to, from, data, value } = Transaction.from((await lent.sends())[1]?.raw)
    expect([to, data, value]).toEqual([from, '0x', 0n])
    await round()
    await lent.expectDone()
    expect(await lent.transaction()).toMatchObject({ state: 'mined', mined_send: 2 })
  })

  test('includes no operation after a reorg, once it was freed', async () => {
    refuse((await lent.sends())[0]?.raw, 'txpool is full')
    await world.broadcast()
    await executeFirst(world, lent.lend().operationId)
    await world.mine()
    await world.index()
    await replaceStuck(world)
    await world.rpc('anvil_reorg', [2, []])
    await world.mine()
    await world.index()
    expect(await lent.row()).toMatchObject({ state: 'signed' })
    await round()
    expect(await lent.row()).toMatchObject({ state: 'signed', tx_id: null })
    await resubmitNow(world)
    await world.round()
    await lent.expectDone()
  })
})
