import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Transaction } from 'ethers'
import { mineAt, readBaseFee, replaceStuck } from './world/stuck.js'
import { createWorld, usdcUnits, type Lend, type World } from './world/fixture.js'

describe('a transaction whose fee is too low', () => {
  let world: World
  let lend: Lend
  let usual: bigint

  beforeAll(async () => {
    const changes = { stuckAfter: { seconds: 0, blocks: 1 } }
    world = await createWorld({ lanes: 1, changes })
    usual = await readBaseFee(world)
  })
  beforeEach(async () => {
    await mineAt(world, usual)
    await world.book()
    lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.sign()
    await world.broadcast()
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  const sends = async () => {
    const { tx_id } = (await world.sends()).at(-1) ?? { tx_id: 0n }
    return (await world.sends()).filter((send) => send.tx_id === tx_id)
  }
  const expectDone = async () => {
    const row = await world.row(lend.operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
    const [{ sender } = { sender: '' }] = await world.transactions()
    const count = await world.rpc<string>('eth_getTransactionCount', [sender, 'latest'])
    const nonces = (await world.transactions()).map(({ nonce }) => nonce)
    expect(nonces).toEqual(nonces.map((_, i) => BigInt(i)))
    expect(Number(count)).toBe(nonces.length)
  }
  /** The base fee quadruples, for so many blocks in which nothing of ours can be. */
  const spike = async (blocks = 1) => {
    await mineAt(world, 4n * usual, blocks)
    await world.book()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
  }

  test('is replaced by the same call under the same nonce, which is mined', async () => {
    await spike()
    await replaceStuck(world)
    await world.broadcast()
    await mineAt(world, 4n * usual)
    await world.book()
    await expectDone()
    const [first, second] = (await sends()).map(({ raw }) => Transaction.from(raw))
    expect(await sends()).toHaveLength(2)
    expect(second).toMatchObject({
      ...{ nonce: first?.nonce, to: first?.to, data: first?.data, gasLimit: first?.gasLimit },
      authorizationList: first?.authorizationList,
    })
    expect(await world.row(lend.operationId)).toMatchObject({ tx_hash: second?.hash })
  })
})
