import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Transaction } from 'ethers'
import type { Tier } from '../../domain/tiers.js'
import type { Payload } from '../../signer/build/payload.js'
import { createWorld, usdcUnits, type Lend, type World } from '../relayer/world/fixture.js'

const WALLETS = 20

describe('waiting operations', () => {
  let world: World
  let lends: Lend[]

  beforeAll(async () => {
    world = await createWorld()
    const wallets = await world.createWallets(WALLETS, 2n * usdcUnits)
    lends = []
    for (const wallet of wallets) lends.push(await world.lend(wallet, usdcUnits))
    await world.round()
  })
  afterAll(() => world?.stop())

  test('share one transaction per sender', async () => {
    const transactions = await world.transactions()
    expect(transactions.map(({ sender }) => sender)).toEqual(world.senders)
  })

  test('are all executed', async () => {
    for (const { operationId, wallet } of lends) {
      expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
      expect(await world.deposited(wallet.address)).toBe(usdcUnits)
    }
  })

  test('pay gas shares that add up to the receipts', async () => {
    for (const { hash, tx_id } of await world.sends()) {
      const { gasUsed } = await world.rpc<{ gasUsed: string }>('eth_getTransactionReceipt', [hash])
      const rows = await world.db('operation').where({ tx_id }).pluck<string[]>('gas_used')
      const sum = rows.reduce((total, gas) => total + BigInt(gas), 0n)
      expect(sum).toBe(BigInt(gasUsed))
    }
  })

  test('of one wallet stay with one sender and in creation order', async () => {
    const wallet = await world.createWallet(5n * usdcUnits)
    const own: Lend[] = []
    for (let i = 0; i < 5; i++) own.push(await world.lend(wallet, usdcUnits))
    await world.sign()
    await world.broadcast()
    own.push(await world.lend((await world.createWallets(1, usdcUnits))[0] ?? wallet, usdcUnits))
    await world.round()
    const rows = await Promise.all(own.slice(0, 5).map(({ operationId }) => world.row(operationId)))
    expect(new Set(rows.map((row) => row?.tx_id)).size).toBe(1)
    const order = await world
      .db('operation')
      .whereIn(
        'id',
        rows.map((row) => row?.id ?? ''),
      )
      .orderBy('log_index')
      .pluck<string[]>('id')
    expect(order).toEqual(own.slice(0, 5).map(({ operationId }) => operationId))
  })

  test('of one wallet share one delegation, and each keeps it for its own resubmission', async () => {
    const wallet = await world.createWallet(3n * usdcUnits)
    const own: Lend[] = []
    for (let i = 0; i < 3; i++) own.push(await world.lend(wallet, usdcUnits))
    await world.round()
    const rows = await Promise.all(own.map(({ operationId }) => world.row(operationId)))
    for (const row of rows) expect(row).toMatchObject({ state: 'confirmed', success: true })
    const raw = (await world.sends()).find(({ tx_id }) => tx_id === rows[0]?.tx_id)?.raw ?? ''
    const included = Transaction.from(raw).authorizationList ?? []
    expect(included.map(({ signature }) => signature.serialized)).toEqual([
      (rows[0]?.payload as Payload).authorization?.signature,
    ])
    const kept = rows.map((row) => (row?.payload as Payload).authorization)
    expect(kept).toEqual([kept[0], kept[0], kept[0]])
  })
})

describe('a sender', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  test('has at most 16 open transactions and continues when they are mined', async () => {
    const wallets = await world.createWallets(18, usdcUnits)
    const lends: Lend[] = []
    for (const wallet of wallets) {
      lends.push(await world.lend(wallet, usdcUnits))
      await world.sign()
    }
    expect(await world.transactions()).toHaveLength(16)
    await world.broadcast()
    await world.mine()
    await world.index()
    await world.round()
    const transactions = await world.transactions()
    expect(transactions.map(({ nonce }) => nonce)).toEqual([...Array(17).keys()].map(BigInt))
    for (const { operationId } of lends) {
      expect(await world.row(operationId)).toMatchObject({ state: 'confirmed' })
    }
  })

  test('serves the accounts in turn, higher tiers first', async () => {
    const walletOf = async (plan: Tier) =>
      world.createWallet(30n * usdcUnits, (await world.createAccount(plan)).id)
    const poor = await walletOf('free')
    const many = await walletOf('pro')
    const rich = await walletOf('enterprise')
    const crowd: Lend[] = []
    for (let i = 0; i < 25; i++) crowd.push(await world.lend(many, usdcUnits))
    const late = await world.lend(poor, usdcUnits)
    const first = await world.lend(rich, usdcUnits)
    await world.sign()
    expect(await world.row(first.operationId)).toMatchObject({ state: 'signed' })
    expect(await world.row(late.operationId)).toMatchObject({ state: 'queued' })
    await world.sign()
    expect(await world.row(late.operationId)).toMatchObject({ state: 'signed' })
    expect(await world.row(crowd.at(-1)?.operationId ?? '')).toMatchObject({ state: 'signed' })
  })
})
