import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ARB_GAS_INFO_ADDRESS } from '../../../evm/l1Costs.js'
import { DELEGATED_CODE } from '../../../evm/registry.js'
import { createWorld, usdcUnits, type Lend, type World } from '../../relayer/world/fixture.js'
import { simulatedIn } from '../../relayer/world/simulated.js'
import type { RpcRequest } from '../../support/faultProxy.js'

describe('operations that are claimed together', () => {
  let world: World
  let asked: RpcRequest[]
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  const listen = () => {
    asked = []
    world.proxy.set((call) => {
      if (simulatedIn(call).length > 0) asked.push(call)
      return undefined
    })
  }
  const lendFrom = async (count: number): Promise<Lend[]> => {
    const lends: Lend[] = []
    for (const wallet of await world.createWallets(count, usdcUnits)) {
      lends.push(await world.lend(wallet, usdcUnits))
    }
    return lends
  }
  const expectLent = async (lends: Lend[]) => {
    await world.broadcast()
    await world.mine()
    await world.index()
    for (const { operationId, wallet } of lends) {
      expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
      expect(await world.deposited(wallet.address)).toBe(usdcUnits)
    }
  }

  test('are estimated separately, with the wallet delegated', async () => {
    listen()
    const lends = await lendFrom(4)
    await world.sign()
    const wallets = lends.map(({ wallet }) => wallet.address)
    expect(asked.flatMap(simulatedIn).sort()).toEqual([...wallets].sort())
    for (const { params } of asked) {
      expect(Object.values(params[2] as object)).toEqual([{ code: DELEGATED_CODE }])
    }
    await expectLent(lends)
  })

  test('are simulated independently of each other', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const own = [await world.lend(wallet, usdcUnits), await world.lend(wallet, usdcUnits)]
    await world.sign()
    for (const { operationId } of own) {
      expect(await world.row(operationId)).toMatchObject({ state: 'signed' })
    }
    await expectLent(own.slice(0, 1))
  })

  test('are deferred with the reason when they would fail, and the others are signed', async () => {
    const lends = await lendFrom(4)
    const tooMuch = await world.lend(await world.createWallet(usdcUnits), 2n * usdcUnits)
    const before = (await world.transactions()).length
    await world.sign()
    expect(await world.row(tooMuch.operationId)).toMatchObject({
      ...{ state: 'deferred', code: 'DEPOSIT_FAILED', payload: null },
      message: expect.stringContaining('The call would fail'),
    })
    expect(await world.transactions()).toHaveLength(before + 1)
    await expectLent(lends)
  })

  test('are signed when a node that imports a block has refused each once', async () => {
    const [overflow, tried] = [`0x4e487b71${'11'.padStart(64, '0')}`, new Set<string>()]
    const error = { code: 3, message: 'execution reverted', data: overflow }
    world.proxy.set((call) => {
      const fresh = simulatedIn(call).filter((wallet) => !tried.has(wallet))
      for (const wallet of fresh) tried.add(wallet)
      return fresh.length > 0 ? { error } : undefined
    })
    const lends = await lendFrom(3)
    await world.sign()
    expect([...tried].sort()).toEqual(lends.map(({ wallet }) => wallet.address).sort())
    await expectLent(lends)
  })
})

describe('a signing context', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  test('reads balances, keys and the L1 price in one contract call', async () => {
    await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    const asked: RpcRequest[] = []
    world.proxy.set((call) => void asked.push(call))
    await world.sign()
    const reads = asked.filter(({ method }) => method === 'eth_call')
    expect(reads).toHaveLength(1)
    expect(JSON.stringify(reads[0])).toContain(ARB_GAS_INFO_ADDRESS.slice(2).toLowerCase())
    expect(await world.transactions()).toHaveLength(1)
  })
})
