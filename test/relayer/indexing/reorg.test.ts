import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createWorld, finalityBlocks, usdcUnits, type Lend, type World } from '../world/fixture.js'

describe('a reorg', () => {
  let world: World
  let lend: Lend

  beforeAll(async () => {
    world = await createWorld()
  })
  beforeEach(async () => {
    lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  })
  afterAll(() => world?.stop())

  /** Replaces the last blocks with empty ones. */
  const reorg = (depth: number) => world.rpc('anvil_reorg', [depth, []])
  const expectDone = async () => {
    const row = await world.row(lend.operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
    const reservation = await world.reservation(lend.intentId)
    expect(reservation).toMatchObject({ spent_block: row?.block_number })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
    expect(await world.usdcOf(lend.wallet.address)).toBe(0n)
  }

  test('removes an operation, whose bytes are sent again at once and executed', async () => {
    await world.round()
    await expectDone()
    const sends = await world.sends()
    await reorg(1)
    await world.mine()
    await world.index()
    const back = { state: 'signed', success: true, block_number: null, block_hash: null }
    expect(await world.row(lend.operationId)).toMatchObject(back)
    const unspent = { spent_block: null, released_at: null }
    expect(await world.reservation(lend.intentId)).toMatchObject(unspent)

    await world.round()
    await expectDone()
    expect(await world.sends()).toEqual(sends)
  })

  test('of several blocks moves an operation into another block', async () => {
    await world.round()
    const before = await world.row(lend.operationId)
    await world.mine(5)
    await world.index()
    await reorg(6)
    await world.index()
    await world.broadcast()
    await world.mine(3)
    await world.index()
    await expectDone()
    const after = await world.row(lend.operationId)
    expect(after?.tx_hash).toBe(before?.tx_hash)
    expect(after?.block_hash).not.toBe(before?.block_hash)
  })

  test('while no driver runs is found by the next one', async () => {
    await world.round()
    await world.driver().db.destroy()
    await reorg(1)
    await world.mine(4)
    await world.restartDriver()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    await world.broadcast()
    await world.mine()
    await world.index()
    await expectDone()
  })

  test('below the finalized block, while no driver ran, is found', async () => {
    await world.round()
    await reorg(1)
    await world.mine(100)
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    await world.broadcast()
    await world.mine()
    await world.index()
    await expectDone()
  })

  test('that keeps the transaction keeps the operation confirmed', async () => {
    await world.round()
    const row = await world.row(lend.operationId)
    const raw = (await world.sends()).find(({ hash }) => hash === row?.tx_hash)?.raw
    await world.mine()
    await world.index()
    await world.rpc('anvil_reorg', [2, [[raw, 1]]])
    await world.index()
    await expectDone()
    expect((await world.row(lend.operationId))?.block_hash).not.toBe(row?.block_hash)
  })

  test('never changes a final operation', async () => {
    await world.round()
    await world.mine(finalityBlocks)
    await world.index()
    await reorg(finalityBlocks - 2)
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'final' })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  })

  test('all transactions are sent again to a node that restarted behind', async () => {
    const snapshot = await world.rpc<string>('evm_snapshot')
    await world.round()
    await world.mine(3)
    await world.index()
    await world.rpc('evm_revert', [snapshot])
    await world.index()
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    await world.broadcast()
    await world.mine()
    await world.index()
    await expectDone()
  })

  test('a node that is only behind rolls nothing back', async () => {
    const older = await world.rpc('eth_getBlockByNumber', ['latest', false])
    await world.round()
    world.proxy.set(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { answer: older } : undefined,
    )
    await world.index()
    world.proxy.set(undefined)
    await expectDone()
  })

  test('a transaction that the node dropped is sent again', async () => {
    await world.sign()
    await world.broadcast()
    const { hash } = (await world.sends()).at(-1) ?? { hash: '' }
    await world.rpc('anvil_dropTransaction', [hash])
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    for (const [sent, at] of world.driver().sentAt) world.driver().sentAt.set(sent, at - 10_000)
    await world.broadcast()
    await world.mine()
    await world.index()
    await expectDone()
  })
})

describe('with two confirmations', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ confirmations: 2 })
  })
  afterAll(() => world?.stop())

  test('an operation is confirmed by the block after its own', async () => {
    const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'mined' })
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed' })
  })
})

describe('a driver after a long downtime', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world?.stop())

  test('indexes finalized blocks by their logs only, and the last ones one by one', async () => {
    const wallets = await world.createWallets(3, usdcUnits)
    const lends: Lend[] = []
    for (const wallet of wallets) lends.push(await world.lend(wallet, usdcUnits))
    await world.sign()
    await world.broadcast()
    await world.mine(90)
    const late = await world.lend(await world.createWalletUnindexed(usdcUnits), usdcUnits)
    await world.sign()
    await world.broadcast()
    await world.mine(3)
    await world.index()
    for (const { operationId } of lends) {
      expect(await world.row(operationId)).toMatchObject({ state: 'final', units: '1000000' })
    }
    expect(await world.row(late.operationId)).toMatchObject({ state: 'confirmed' })
    const states = (await world.transactions()).map(({ state }) => state)
    expect(states).toContain('final')
    expect(states).not.toContain('open')
  })
})
