import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hexlify, keccak256, randomBytes, toQuantity, Transaction } from 'ethers'
import { DELEGATE_ADDRESS, DELEGATE_CODE_HASH } from '../../evm/registry.js'
import { indexChain } from '../../relayer/indexChain.js'
import type { Decide, RpcFault } from '../support/faultProxy.js'
import { createWorld, usdcUnits, type Lend, type World } from './world/fixture.js'

type NodeBlock = { number: string; hash: string }

/** The common fixture of this file: a world, and an operation that is executed. */
function useWorld() {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())
  return {
    world: () => world,
    lend: async () => world.lend(await world.createWallet(usdcUnits), usdcUnits),
    async expectDone({ operationId, wallet }: Lend) {
      const row = await world.row(operationId)
      expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
      expect(await world.deposited(wallet.address)).toBe(usdcUnits)
    },
    /** Replaces the last blocks with empty ones, which always differ. */
    async orphan(depth: number) {
      const before = await world.rpc<NodeBlock>('eth_getBlockByNumber', ['latest', false])
      await world.rpc('anvil_setCoinbase', [hexlify(randomBytes(20))])
      await world.rpc('anvil_reorg', [depth, []])
      const after = await world.rpc<NodeBlock>('eth_getBlockByNumber', [before.number, false])
      expect(after.hash).not.toBe(before.hash)
    },
    /** A database without rows of this chain. */
    async forgetChain() {
      await world.restartDriver()
      await world.db('block_header').delete()
      await world.db('chain').delete()
    },
  }
}

const onTag =
  (fault: RpcFault): Decide =>
  ({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? fault : undefined

describe('a first start', () => {
  const { world, lend, expectDone, orphan, forgetChain } = useWorld()

  test('continues when a reorg removes its newest block', async () => {
    const wallet = await world().createWallet(usdcUnits)
    await world().mine(20)
    await forgetChain()
    await indexChain(world().driver())
    await orphan(3)
    const lent = await world().lend(wallet, usdcUnits)
    await world().round()
    await expectDone(lent)
  })

  test('finds operations mined above the finalized block', async () => {
    const lent = await lend()
    await world().sign()
    await world().broadcast()
    await world().mine(3)
    await forgetChain()
    await world().index()
    await expectDone(lent)
  })
})

describe('a missing final block', () => {
  const { world, orphan } = useWorld()

  test('error: stops the indexing with an error log, and nothing is rolled back', async () => {
    const wallet = await world().createWallet(usdcUnits)
    await world().lend(wallet, usdcUnits)
    await world().mine(20)
    await world().index()
    await orphan(18)
    await expect(world().index()).rejects.toThrow('A finalized block is missing')
    const alarms = world().logs.filter(({ level }) => level === 'error')
    expect(alarms).toEqual([expect.objectContaining({ message: expect.stringContaining('final') })])
  })
})

describe('a node', () => {
  const { world, lend, expectDone, forgetChain } = useWorld()

  describe('without the tag finalized', () => {
    test.each<RpcFault>([
      { answer: null },
      { error: { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' } },
      { error: { code: -39001, message: 'Unknown block' } },
      { error: { code: -32000, message: 'finalized block not found' } },
    ])('(%j) is used, and depth decides finality', async (fault) => {
      await world().mine(80)
      await forgetChain()
      world().logs.length = 0
      world().proxy.set(onTag(fault))
      const lent = await lend()
      await world().round()
      await expectDone(lent)
      const { finalityBlocks } = world().chain
      for (let i = 0; i < 8; i++) {
        await world().mine()
        await world().index()
      }
      expect(await world().row(lent.operationId)).toMatchObject({ state: 'confirmed' })
      await world().mine(finalityBlocks - 9)
      await world().index()
      expect(await world().row(lent.operationId)).toMatchObject({ state: 'confirmed' })
      await world().mine()
      await world().index()
      expect(await world().row(lent.operationId)).toMatchObject({ state: 'final' })
      const warned = world().logs.filter(({ message }) =>
        message.startsWith('finalized block not reported'),
      )
      expect(warned).toHaveLength(1)
    })

    test('for single reads only is not treated as without it', async () => {
      const lent = await lend()
      await world().round()
      world().logs.length = 0
      let asked = 0
      world().proxy.set((call) => (asked++ % 3 > 0 ? onTag({ answer: null })(call) : undefined))
      for (let i = 0; i < 5; i++) {
        await world().mine()
        await world().index()
      }
      await expectDone(lent)
      expect(world().logs).toEqual([])
    })

    test('a lower finalized block makes no final operation open again', async () => {
      const lent = await lend()
      await world().round()
      const early = await world().rpc('eth_getBlockByNumber', [toQuantity(3), false])
      await world().mine(40)
      await world().index()
      expect(await world().row(lent.operationId)).toMatchObject({ state: 'final' })
      world().proxy.set(onTag({ answer: early }))
      const next = await lend()
      await world().round()
      await expectDone(next)
      expect(await world().row(lent.operationId)).toMatchObject({ state: 'final' })
    })
  })

  describe('that has pruned the state of the finalized block', () => {
    const onCode =
      (fault: RpcFault): Decide =>
      ({ method, params }) =>
        method === 'eth_getCode' && params[1] === 'finalized' ? fault : undefined

    test.each<RpcFault>([
      { error: { code: -32000, message: 'missing trie node 4f0c (path ) state is not available' } },
      { error: { code: -32000, message: 'historical state 0x12 is not available' } },
      { error: { code: -32602, message: 'invalid block tag' } },
      { error: { code: -32601, message: 'archive requests need another plan' } },
      { answer: null },
    ])('(%j) is used, and the authorization is included', async (fault) => {
      world().proxy.set(onCode(fault))
      const first = await lend()
      await world().round()
      await expectDone(first)
      // The delegation of the wallet is final by now. A superfluous authorization is harmless.
      await world().mine(40)
      const { address } = first.wallet
      await world().mint(first.wallet, usdcUnits)
      await world().mine()
      await world().index()
      const again = await world().lend(first.wallet, usdcUnits)
      await world().round()
      expect(await world().row(again.operationId)).toMatchObject({ state: 'confirmed' })
      expect(await world().deposited(address)).toBeGreaterThanOrEqual(2n * usdcUnits)
      const { raw } = (await world().sends()).at(-1) ?? { raw: '' }
      expect(Transaction.from(raw).authorizationList).toHaveLength(1)
    })
  })

  describe('the code of the delegate', () => {
    const onDelegate =
      (code: string): Decide =>
      ({ method, params }) =>
        method === 'eth_getCode' && params[0] === DELEGATE_ADDRESS ? { answer: code } : undefined
    const refused = async (code: string) => {
      const lent = await lend()
      const before = (await world().transactions()).length
      const signer = world().createSigner('fresh')
      world().proxy.set(onDelegate(code))
      await world().sign(signer)
      world().proxy.set(undefined)
      const row = await world().row(lent.operationId)
      expect(row).toMatchObject({ state: 'deferred', code: 'RPC_ERROR', payload: null })
      expect(await world().transactions()).toHaveLength(before)
      await world().retryNow(lent)
      await world().sign(signer)
      await world().round()
      await expectDone(lent)
      return row?.message
    }

    test('has the hash of the registry', async () => {
      const code = await world().rpc<string>('eth_getCode', [DELEGATE_ADDRESS, 'latest'])
      expect(keccak256(code)).toBe(DELEGATE_CODE_HASH)
    })

    test('that is missing is not cached, and nothing is signed', async () => {
      expect(await refused('0x')).toContain('no code')
    })

    test('that differs is not cached, and nothing is signed', async () => {
      expect(await refused('0x00')).toContain('other code than that of Simple7702Account')
    })
  })

  describe('that rejects a transaction', () => {
    const onSend =
      (fault: RpcFault): Decide =>
      ({ method }) =>
        method === 'eth_sendRawTransaction' ? fault : undefined
    /** Clears the resend times. */
    const letTimePass = () => {
      const { sentAt } = world().driver()
      for (const [hash, at] of sentAt) sentAt.set(hash, at - 10_000)
    }
    const known = [
      { code: -32000, message: 'already known' },
      { code: -32003, message: 'transaction already imported' },
      { code: -32000, message: 'nonce too low: next nonce 8, tx nonce 7' },
    ].map((error): RpcFault => ({ error }))
    const lost = [
      { code: -32000, message: 'already known' },
      { code: -32000, message: 'nonce too low: next nonce 8, tx nonce 7' },
      { code: -32000, message: 'nonce too high: next nonce 6, tx nonce 7' },
      { code: -32000, message: 'replacement transaction underpriced' },
      { code: -32005, message: 'daily request count exceeded' },
    ].map((refuse): RpcFault => ({ refuse }))

    test.each([...known, ...lost])('(%j) does not end it: only blocks do', async (fault) => {
      const before = (await world().transactions()).length
      const lends = [await lend()]
      await world().sign()
      lends.push(await lend())
      await world().sign()
      world().proxy.set(onSend(fault))
      await world().broadcast()
      letTimePass()
      await world().broadcast()
      world().proxy.set(undefined)
      letTimePass()
      await world().broadcast()
      await world().mine()
      await world().index()
      for (const one of lends) await expectDone(one)
      expect(await world().transactions()).toHaveLength(before + 2)
    })
  })
})
