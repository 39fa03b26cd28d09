import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Transaction } from 'ethers'
import { DELEGATE_ADDRESS } from '../../evm/registry.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { entryPoint } from '../../evm/calls/userOperation.js'
import {
  createWorld,
  finalityBlocks,
  usdcUnits,
  type Lend,
  type World,
} from '../relayer/world/fixture.js'
import { forgetOperations } from '../relayer/world/scenes/forget.js'
import type { Decide } from '../support/faultProxy.js'
import type { SignerTools } from '../../signer/signingContext.js'

let world: World

beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterEach(() => world.proxy.set(undefined))
afterAll(() => world?.stop())

const createLend = async (units = usdcUnits) =>
  world.lend(await world.createWallet(4n * usdcUnits), units)
const count = async () => (await world.transactions()).length
const expectDone = async ({ operationId }: Lend) =>
  expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
/** The stored transaction that includes an operation. */
async function bundleTransactionOf({ operationId }: Lend): Promise<Transaction> {
  const row = await world.row(operationId)
  const send = (await world.sends()).find(({ tx_id }) => tx_id === row?.tx_id)
  return Transaction.from(send?.raw ?? '')
}
const authorizationsOf = async (lend: Lend) =>
  ((await bundleTransactionOf(lend)).authorizationList ?? []).map(({ address }) => address)
const onMethod =
  (name: string, decide: (params: unknown[]) => ReturnType<Decide>): Decide =>
  ({ method, params }) =>
    method === name ? decide(params) : undefined

describe('the signer', () => {
  test('signs nothing while gas exceeds the fee cap, and continues below it', async () => {
    const lend = await createLend()
    const before = await count()
    const client = world.createClient({ maxFeeCapWei: 1n })
    await world.sign({ ...world.signer, chains: { list: [client], byId: () => client } })
    const waits = { state: 'deferred', code: 'RPC_ERROR', tx_id: null }
    expect(await world.row(lend.operationId)).toMatchObject(waits)
    expect(await count()).toBe(before)
    await world.retryNow(lend)
    await world.round()
    await expectDone(lend)
    const { maxFeePerGas } = await bundleTransactionOf(lend)
    expect(maxFeePerGas).toBeLessThanOrEqual(world.chain.maxFeeCapWei)
  })

  test('stores the signed bytes and broadcasts nothing', async () => {
    const heard: unknown[] = []
    world.proxy.set(({ method, params }) => {
      if (method === 'eth_sendRawTransaction') heard.push(params[0])
      return undefined
    })
    const lend = await createLend()
    await world.sign()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    expect(heard).toEqual([])
    await world.broadcast()
    expect(heard).toEqual([(await bundleTransactionOf(lend)).serialized])
    await world.round()
    await expectDone(lend)
  })

  test('assigns one nonce per operation in repeated runs', async () => {
    const lend = await createLend()
    await world.sign()
    const bound = (await world.row(lend.operationId))?.tx_id
    const before = await count()
    for (let i = 0; i < 3; i++) await world.sign(world.createSigner(`other ${i}`))
    expect(await count()).toBe(before)
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed', tx_id: bound })
    await world.round()
    await expectDone(lend)
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  })

  test('adds gas to the estimate, because inclusion may need more', async () => {
    const lend = await createLend()
    // The call needs two fifths more gas in the block than in the estimate.
    const estimate = onMethod('eth_estimateGas', async (params) => {
      const gas = await callRpc<string>(world.node.url, 'eth_estimateGas', params)
      return { answer: `0x${((BigInt(gas) * 7n) / 10n).toString(16)}` }
    })
    world.proxy.set(estimate)
    await world.round()
    await expectDone(lend)
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  })

  test('does not use a node that is behind the block of the order', async () => {
    const lend = await createLend()
    const before = await count()
    const old = await world.rpc('eth_getBlockByNumber', ['0x1', false])
    world.proxy.set(onMethod('eth_getBlockByNumber', () => ({ answer: old })))
    await world.sign()
    const waits = { state: 'deferred', code: 'RPC_ERROR', tx_id: null }
    expect(await world.row(lend.operationId)).toMatchObject(waits)
    expect(await count()).toBe(before)
    world.proxy.set(undefined)
    await world.retryNow(lend)
    await world.round()
    await expectDone(lend)
  })

  test('simulates nothing while the code of the delegate is missing, because every call would seem to succeed', async () => {
    const lend = await createLend()
    const before = await count()
    const withoutCode = onMethod('eth_getCode', ([address]) =>
      address === DELEGATE_ADDRESS ? { answer: '0x' } : undefined,
    )
    world.proxy.set(withoutCode)
    await world.sign(world.createSigner('elsewhere'))
    const waits = { state: 'deferred', code: 'RPC_ERROR', tx_id: null }
    expect(await world.row(lend.operationId)).toMatchObject(waits)
    expect(await count()).toBe(before)
    world.proxy.set(undefined)
    await world.retryNow(lend)
    await world.round()
    await expectDone(lend)
  })
})

describe('a refusal', () => {
  test('at one block is not final, survives a network error, and becomes final with the next refusal at a later block', async () => {
    const lend = await createLend(5n * usdcUnits)
    const before = await count()
    await world.sign()
    const first = await world.row(lend.operationId)
    expect(first).toMatchObject({ state: 'deferred', code: 'DEPOSIT_FAILED' })
    expect(first?.refused_block).not.toBeNull()
    await world.retryNow(lend)
    await world.sign()
    const again = { state: 'deferred', refused_block: first?.refused_block }
    expect(await world.row(lend.operationId)).toMatchObject(again)
    await world.mine()
    await world.index()
    await world.retryNow(lend)
    world.proxy.set(() => 'http500')
    await world.sign()
    const unheard = { state: 'deferred', code: 'RPC_ERROR', refused_block: first?.refused_block }
    expect(await world.row(lend.operationId)).toMatchObject(unheard)
    world.proxy.set(undefined)
    await world.retryNow(lend)
    await world.sign()
    const ended = { state: 'rejected', code: 'DEPOSIT_FAILED', tx_id: null }
    expect(await world.row(lend.operationId)).toMatchObject(ended)
    expect(await count()).toBe(before)
  })
})

describe('an operation that the chain has already executed', () => {
  /** State of a backup that is older than the operation, which is then ordered again. */
  const forget = async ({ operationId, order }: Lend) => {
    await forgetOperations(world.db, [operationId])
    await world.submit(order)
  }
  const signers: [string, () => Promise<Lend>][] = [
    ['user operation', createLend],
    ['funding', async () => world.fund(await world.createWallet(0n))],
  ]

  test.each(signers)('is not signed again: %s', async (_kind, create) => {
    const lend = await create()
    await world.round()
    await expectDone(lend)
    const [before, units] = [await count(), await world.usdcOf(lend.wallet.address)]
    await forget(lend)
    const tools: SignerTools = world.createSigner('restored')
    await world.sign(tools)
    expect(await count()).toBe(before)
    expect(await world.row(lend.operationId)).toMatchObject({ tx_id: null })
    await world.round()
    expect(await world.usdcOf(lend.wallet.address)).toBe(units)
  })
})

describe('the delegation of a wallet', () => {
  const lendAgain = async ({ wallet }: Lend) => {
    const lend = await world.lend(wallet, usdcUnits)
    await world.sign()
    return lend
  }
  const initCodesOf = async (lend: Lend) => {
    const { data } = await bundleTransactionOf(lend)
    const [operations] = entryPoint.decodeFunctionData('handleOps', data) as unknown as [
      { sender: string; initCode: string }[],
    ]
    return operations
      .filter(({ sender }) => sender === lend.wallet.address)
      .map(({ initCode }) => initCode)
  }
  const marker = ['0x7702000000000000000000000000000000000000']

  test('is included with each operation until it is final, and each keeps it', async () => {
    const first = await createLend()
    await world.round()
    await expectDone(first)
    const second = await lendAgain(first)
    for (const lend of [first, second]) {
      expect(await authorizationsOf(lend)).toEqual([DELEGATE_ADDRESS])
      expect(await initCodesOf(lend)).toEqual(marker)
    }
    await world.round()
    await expectDone(second)
    await world.mine(finalityBlocks + 1)
    await world.index()
    const third = await lendAgain(first)
    expect(await authorizationsOf(third)).toEqual([])
    expect(await initCodesOf(third)).toEqual(marker)
    await world.round()
    await expectDone(third)
    expect(await world.deposited(first.wallet.address)).toBe(3n * usdcUnits)
  })

  test('is included again with the same bytes after a reorg, and each operation is executed once', async () => {
    const first = await createLend()
    await world.round()
    const second = await lendAgain(first)
    await world.round()
    const sends = await world.sends()
    await world.rpc('anvil_reorg', [2, []])
    await world.rpc('anvil_dropAllTransactions')
    await world.mine(3)
    await world.index()
    const third = await lendAgain(first)
    expect(await authorizationsOf(third)).toEqual([DELEGATE_ADDRESS])
    await world.broadcast()
    await world.mine()
    await world.index()
    for (const lend of [first, second, third]) await expectDone(lend)
    expect((await world.sends()).slice(0, sends.length)).toEqual(sends)
    expect(await world.deposited(first.wallet.address)).toBe(3n * usdcUnits)
  })

  test('is included when the node does not know whether it is final', async () => {
    const first = await createLend()
    await world.round()
    await world.mine(finalityBlocks + 1)
    await world.index()
    const pruned = { error: { code: -32000, message: 'missing trie node' } }
    const fails = ([, at]: unknown[]) => (at === 'finalized' ? pruned : undefined)
    world.proxy.set(onMethod('eth_getCode', fails))
    const second = await lendAgain(first)
    expect(await authorizationsOf(second)).toEqual([DELEGATE_ADDRESS])
    world.proxy.set(undefined)
    await world.round()
    await expectDone(second)
  })
})
