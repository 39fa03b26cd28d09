import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Decide, RpcFault } from '../support/faultProxy.js'
import { createWorld, usdcUnits, type Lend, type World } from '../relayer/world/fixture.js'

/** Timeout of an answer, ms. */
const SILENT_MS = 1_000

describe('a node that fails', () => {
  let world: World
  let lend: Lend
  let before: number

  beforeAll(async () => {
    world = await createWorld({ waits: { timeoutMs: SILENT_MS } })
  })
  beforeEach(async () => {
    lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    before = (await world.transactions()).length
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  const onMethod =
    (name: string, fault: RpcFault): Decide =>
    ({ method }) =>
      method === name ? fault : undefined

  /** A second waiting operation; without it only our own transactions are read. */
  const createOpen = async () => {
    const { operationId } = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    const later = { code: 'RPC_ERROR', retry_after: new Date(Date.now() + 3_600_000) }
    await world
      .db('operation')
      .where({ id: operationId })
      .update({ state: 'deferred', ...later })
  }

  const expectDeferred = async (code: string) => {
    const row = await world.row(lend.operationId)
    expect(row).toMatchObject({ state: 'deferred', code, payload: null, tx_id: null })
    expect(await world.transactions()).toHaveLength(before)
    return row
  }
  const expectDoneAfterwards = async () => {
    world.proxy.set(undefined)
    await world.retryNow(lend)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
    expect(await world.transactions()).toHaveLength(before + 1)
  }

  test.each<RpcFault>([
    'http500',
    'http429',
    'reset',
    { error: { code: -32005, message: 'limit' } },
  ])('while signing (%j): the operation is deferred, and signed later', async (fault) => {
    world.proxy.set(() => fault)
    await world.sign()
    await expectDeferred('RPC_ERROR')
    await expectDoneAfterwards()
  })

  test.each(['eth_estimateGas', 'eth_call', 'eth_getCode'])(
    'during the preparation (%s): the operation is deferred, and signed later',
    async (method) => {
      world.proxy.set(onMethod(method, 'reset'))
      await world.sign()
      await expectDeferred('RPC_ERROR')
      await expectDoneAfterwards()
    },
  )

  test('with a timeout: the operation is deferred', async () => {
    world.proxy.set(onMethod('eth_estimateGas', { delayMs: 1.5 * SILENT_MS }))
    await world.sign()
    await expectDeferred('RPC_ERROR')
    await expectDoneAfterwards()
  })

  test('with a revert without data: the call counts as failing', async () => {
    const error = { code: -32000, message: 'execution reverted' }
    world.proxy.set(onMethod('eth_estimateGas', { error }))
    await world.sign()
    await expectDeferred('DEPOSIT_FAILED')
    await expectDoneAfterwards()
  })

  test('behind the block of the operation: it is not used', async () => {
    const old = await world.rpc('eth_getBlockByNumber', ['0x1', false])
    world.proxy.set(onMethod('eth_getBlockByNumber', { answer: old }))
    await world.sign()
    const row = await expectDeferred('RPC_ERROR')
    expect(row?.message).toContain('behind')
    await expectDoneAfterwards()
  })

  test.each<RpcFault>(['http500', 'http429', 'reset', 'lostReply'])(
    'while broadcasting (%j): the same bytes are sent again, and executed once',
    async (fault) => {
      await world.sign()
      world.proxy.set(onMethod('eth_sendRawTransaction', fault))
      await world.broadcast()
      await world.broadcast()
      await expectDoneAfterwards()
    },
  )

  test('while indexing: nothing is indexed partially', async () => {
    await createOpen()
    await world.sign()
    await world.broadcast()
    await world.mine()
    for (const method of ['eth_getLogs', 'eth_getTransactionReceipt', 'eth_getBlockByNumber']) {
      world.proxy.set(onMethod(method, 'reset'))
      await expect(world.index()).rejects.toThrow('did not answer')
      expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    }
    await expectDoneAfterwards()
  })

  test('with logs of other blocks: they are requested again', async () => {
    await createOpen()
    await world.round()
    const logs = await world.rpc('eth_getLogs', [{ fromBlock: 'latest' }])
    const next = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.sign()
    await world.broadcast()
    await world.mine()
    world.proxy.set(onMethod('eth_getLogs', { answer: logs }))
    await expect(world.index()).rejects.toThrow('The logs belong to other blocks')
    world.proxy.set(undefined)
    await world.index()
    expect(await world.row(next.operationId)).toMatchObject({ state: 'confirmed' })
  })

  test('with missing logs: outcomes of our own transactions are still indexed', async () => {
    await createOpen()
    world.proxy.set(onMethod('eth_getLogs', { answer: [] }))
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    await expectDoneAfterwards()
  })

  test('with an unanswered price feed: the outcome is indexed without a price', async () => {
    const error = { code: 3, message: 'execution reverted', data: '0x' }
    await world.sign()
    await world.broadcast()
    await world.mine()
    world.proxy.set(onMethod('eth_call', { error }))
    await world.index(world.freshDriver())
    await expectDoneAfterwards()
  })
})

describe('a sender', () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  const createLend = async () => world.lend(await world.createWallet(usdcUnits), usdcUnits)
  /** Two operations in two transactions. */
  const lendTwo = async () => {
    const lends: Lend[] = []
    for (let i = 0; i < 2; i++) {
      lends.push(await createLend())
      await world.sign()
    }
    return lends
  }

  test('sends a nonce only after the lower one has reached the node', async () => {
    const lends = await lendTwo()
    const asked: unknown[] = []
    world.proxy.set(({ method, params }) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      asked.push(params[0])
      return 'http500'
    })
    await world.broadcast()
    world.proxy.set(undefined)
    expect(asked).toEqual([(await world.sends())[0]?.raw])
    await world.round()
    for (const { operationId } of lends) {
      expect(await world.row(operationId)).toMatchObject({ state: 'confirmed' })
    }
  })

  test('signs nothing without gas, and continues when it has some', async () => {
    const [sender] = world.senders
    const before = (await world.transactions()).length
    const lend = await createLend()
    await world.rpc('anvil_setBalance', [sender, '0x1'])
    await world.sign()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'deferred', payload: null })
    expect(await world.transactions()).toHaveLength(before)
    await world.rpc('anvil_setBalance', [sender, '0xde0b6b3a7640000'])
    await world.retryNow(lend)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed' })
  })

  test('signs nothing when its chain has more nonces than the database', async () => {
    const [from] = world.senders
    const before = (await world.transactions()).length
    await world.rpc('anvil_impersonateAccount', [from])
    await world.rpc('eth_sendTransaction', [{ from, to: from, value: '0x0' }])
    await world.mine()
    const next = await createLend()
    await world.sign()
    const row = await world.row(next.operationId)
    expect(row).toMatchObject({ state: 'deferred', code: 'INTERNAL', payload: null })
    expect(await world.transactions()).toHaveLength(before)
  })
})
