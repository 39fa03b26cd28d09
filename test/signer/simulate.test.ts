import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { ARB_GAS_INFO_ADDRESS } from '../../chains/l1Costs.js'
import { DELEGATED_CODE, ENTRY_POINT_ADDRESS } from '../../chains/registry.js'
import { callGasOf } from '../../protocols/userOperation.js'
import { createWorld, usdcUnits, type Lend, type World } from '../lanes/world/fixture.js'
import { isTogether, simulatedIn } from '../lanes/world/simulated.js'
import type { RpcCall } from '../support/faultProxy.js'
import type { Payload } from '../../signer/payload.js'

type Overrides = Record<string, { code: string }>

describe('calls of operations that are taken together', () => {
  let world: World
  let asked: RpcCall[]
  beforeAll(async () => {
    world = await createWorld({ lanes: 1 })
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  const listen = (refused?: (call: RpcCall) => boolean) => {
    asked = []
    world.proxy.set((call) => {
      if (simulatedIn(call).length > 0) asked.push(call)
      return refused?.(call) ? { error: { code: -32602, message: 'no overrides' } } : undefined
    })
  }
  const lendFrom = async (count: number): Promise<Lend[]> => {
    const lends: Lend[] = []
    for (const wallet of await world.createWallets(count, usdcUnits)) {
      lends.push(await world.lend(wallet, usdcUnits))
    }
    return lends
  }
  const payloadOf = async ({ operationId }: Lend) =>
    (await world.row(operationId))?.payload as Payload
  const expectLent = async (lends: Lend[]) => {
    await world.broadcast()
    await world.mine()
    await world.book()
    for (const { operationId, wallet } of lends) {
      expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
      expect(await world.deposited(wallet.address)).toBe(usdcUnits)
    }
  }

  test('are one question, and get as much gas as half as much again as an estimate', async () => {
    listen()
    const lends = await lendFrom(6)
    await world.sign()
    expect(asked.map(({ method }) => method)).toEqual(['eth_call'])
    expect(new Set(asked.flatMap(simulatedIn)).size).toBe(6)
    const [, at, overrides = {}] = (asked[0]?.params ?? []) as [object, string, Overrides?]
    for (const lend of lends) {
      // The delegate's own code would be thousands of bytes for each.
      expect(overrides[lend.wallet.address]).toEqual({ code: DELEGATED_CODE })
      const { userOperation } = await payloadOf(lend)
      if (!userOperation) throw new Error('Nothing was signed.')
      const call = {
        from: ENTRY_POINT_ADDRESS,
        to: lend.wallet.address,
        data: userOperation.callData,
      }
      const estimate = await world.rpc<string>('eth_estimateGas', [call, at, overrides])
      const percent = Number((100n * callGasOf(userOperation)) / BigInt(estimate))
      expect(percent).toBeGreaterThanOrEqual(150)
      expect(percent).toBeLessThan(165)
    }
    await expectLent(lends)
  })

  test('of one wallet ask once whether it is delegated', async () => {
    const wallet = await world.createWallet(3n * usdcUnits)
    for (let i = 0; i < 3; i++) await world.lend(wallet, usdcUnits)
    const before = world.proxy.asked.eth_getCode ?? 0
    await world.sign()
    expect((world.proxy.asked.eth_getCode ?? 0) - before).toBe(1)
    await world.broadcast()
    await world.mine()
    await world.book()
    expect(await world.deposited(wallet.address)).toBe(3n * usdcUnits)
  })

  test('are run as if there were no other', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const own = [await world.lend(wallet, usdcUnits), await world.lend(wallet, usdcUnits)]
    listen()
    await world.sign()
    expect(asked).toHaveLength(1)
    for (const { operationId } of own) {
      expect(await world.row(operationId)).toMatchObject({ state: 'signed' })
    }
    await expectLent(own.slice(0, 1))
  })

  test('that would fail are asked about alone, and told why: the others go together', async () => {
    const lends = await lendFrom(4)
    const tooMuch = await world.lend(await world.createWallet(usdcUnits), 2n * usdcUnits)
    const before = (await world.transactions()).length
    listen()
    await world.sign()
    expect(asked.map(({ method }) => method)).toEqual(['eth_call', 'eth_estimateGas'])
    expect(asked.slice(1).flatMap(simulatedIn)).toEqual([tooMuch.wallet.address])
    expect(await world.row(tooMuch.operationId)).toMatchObject({
      ...{ state: 'deferred', code: 'DEPOSIT_FAILED', payload: null },
      message: expect.stringContaining('The call would fail'),
    })
    expect(await world.transactions()).toHaveLength(before + 1)
    await expectLent(lends)
  })

  test('are asked about one by one where a node does not take them together', async () => {
    const lends = await lendFrom(3)
    listen(isTogether)
    await world.sign()
    const alone = asked.filter((call) => !isTogether(call))
    expect(new Set(alone.flatMap(simulatedIn)).size).toBe(3)
    await expectLent(lends)
  })
})

describe('a turn of a lane', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ lanes: 1 })
  })
  afterAll(() => world?.stop())

  test('asks for what contracts tell in one question: money, keys, and what L1 takes for data', async () => {
    await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    const asked: RpcCall[] = []
    world.proxy.set((call) => void asked.push(call))
    await world.sign()
    const reads = asked.filter(({ method }) => method === 'eth_call')
    expect(reads).toHaveLength(1)
    expect(JSON.stringify(reads[0])).toContain(ARB_GAS_INFO_ADDRESS.slice(2).toLowerCase())
    expect(await world.transactions()).toHaveLength(1)
  })
})
