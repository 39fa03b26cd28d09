import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { resubmitNow, forgetSent, openSender, useLend } from './world/scenes/stuck.js'
import { createWorld, finalityBlocks, type World } from './world/fixture.js'

const GWEI = 1_000_000_000n
const ALARM = 'nonce used by a foreign transaction: check who holds the key of this sender'

describe('a nonce that a foreign transaction has used', () => {
  let world: World
  const lent = useLend(() => world)

  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  beforeEach(async () => {
    await lent.begin()
    await useNonce()
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  /** An attacker with the sender's key uses its nonce first. */
  async function useNonce(): Promise<void> {
    const sender = await openSender(world)
    const { nonce } = await lent.transaction()
    const fees = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI }
    const raw = await sender.signTransaction({
      ...{ type: 2, chainId: world.chain.chainId, nonce: Number(nonce), to: sender.address },
      ...{ gasLimit: 21_000n, ...fees },
    })
    await world.rpc('eth_sendRawTransaction', [raw])
    await world.mine()
    await world.index()
    await world.broadcast()
  }
  const sendAgain = async () => {
    forgetSent(world)
    await world.broadcast()
  }
  const alarms = () => world.logs.filter(({ message }) => message === ALARM)
  const expectIncludedOnce = async () => {
    await resubmitNow(world)
    await world.round()
    await lent.expectDone()
  }

  test('is not lost on a node that has pruned the state of its final block', async () => {
    await world.mine(finalityBlocks)
    await world.index()
    const error = { code: -32_000, message: 'missing trie node' }
    world.proxy.set(({ method }) => (method === 'eth_getTransactionCount' ? { error } : undefined))
    await sendAgain()
    expect(await lent.transaction()).toMatchObject({ state: 'open' })
    world.proxy.set(undefined)
    await sendAgain()
    expect(await lent.transaction()).toMatchObject({ state: 'lost' })
    await expectIncludedOnce()
  })

  test('is not lost while the receipts of its own sends cannot be read', async () => {
    await world.mine(finalityBlocks)
    await world.index()
    const error = { code: -32_000, message: 'transaction indexing is in progress' }
    world.proxy.set(({ method }) =>
      method === 'eth_getTransactionReceipt' ? { error } : undefined,
    )
    await sendAgain()
    expect(await lent.transaction()).toMatchObject({ state: 'open' })
    world.proxy.set(undefined)
    await sendAgain()
    expect(await lent.transaction()).toMatchObject({ state: 'lost' })
    await expectIncludedOnce()
  })

  test('is lost only when that is final, and its operations are executed once', async () => {
    const before = alarms().length
    await world.mine(finalityBlocks - 2)
    await world.index()
    await sendAgain()
    expect(await lent.transaction()).toMatchObject({ state: 'open' })
    expect((await lent.row())?.tx_id).not.toBeNull()

    await world.mine(2)
    await world.index()
    await sendAgain()
    await sendAgain()
    expect(await lent.transaction()).toMatchObject({ state: 'lost' })
    expect(await lent.row()).toMatchObject({ state: 'signed', tx_id: null })
    expect(alarms()).toHaveLength(before + 1)
    await expectIncludedOnce()
  })
})
