import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { DELEGATED_CODE } from '../../../evm/registry.js'
import { MOST_REVERTS } from '../../../operations/signing/inclusion.js'
import { createWorld, finalityBlocks, usdcUnits, type World } from '../../relayer/world/fixture.js'
import { skipPauses } from '../../relayer/world/treasury.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'

let world: World
beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterAll(() => world?.stop())

/** The account nonce of a wallet, as if another party had used its key. */
const setNonce = ({ address }: StoredWallet, nonce: number) =>
  world.rpc('anvil_setNonce', [address, toQuantity(nonce)])
const setCode = ({ address }: StoredWallet, code: string) =>
  world.rpc('anvil_setCode', [address, code])
const codeOf = ({ address }: StoredWallet) => world.rpc<string>('eth_getCode', [address, 'latest'])
const sendAndMine = async () => {
  await world.broadcast()
  await world.mine()
  await world.index()
}
const countTransactions = async () => (await world.transactions()).length
const done = { state: 'confirmed', success: true }

describe('the delegation of a wallet', () => {
  test('is signed with the account nonce that the chain reports', async () => {
    const wallet = await world.createWallet(usdcUnits)
    await setNonce(wallet, 1)
    const { operationId } = await world.lend(wallet, usdcUnits)
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ ...done, reverts: 0 })
    expect(await codeOf(wallet)).toBe(DELEGATED_CODE)
    expect(await world.deposited(wallet.address)).toBe(usdcUnits)
  })

  test('is signed again when it was removed after its finality', async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    await world.lend(wallet, usdcUnits)
    await world.round()
    await world.mine(2 * finalityBlocks)
    await world.index()
    await setCode(wallet, '0x')
    const { operationId } = await world.lend(wallet, usdcUnits)
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ ...done, reverts: 0 })
    expect(await world.deposited(wallet.address)).toBe(2n * usdcUnits)
  })

  test('survives a reorg that gives its nonce back', async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    await world.lend(wallet, usdcUnits)
    await world.round()
    const { operationId } = await world.lend(wallet, usdcUnits)
    await world.sign()
    await world.rpc('anvil_reorg', [1, []])
    await world.index()
    await sendAndMine()
    await world.round()
    expect(await world.row(operationId)).toMatchObject(done)
    expect(await world.deposited(wallet.address)).toBe(2n * usdcUnits)
  })
})

describe('a signed operation whose delegation can no longer work', () => {
  const orphan = async () => {
    const wallet = await world.createWallet(usdcUnits)
    const lent = await world.lend(wallet, usdcUnits)
    await world.sign()
    await setNonce(wallet, 1)
    await sendAndMine()
    const reverted = { state: 'signed', tx_id: null, reverts: 1 }
    expect(await world.row(lent.operationId)).toMatchObject(reverted)
    return lent
  }

  test('is included with a new one', async () => {
    const { operationId, wallet } = await orphan()
    const before = await countTransactions()
    await skipPauses(world)
    await world.round()
    expect(await world.row(operationId)).toMatchObject(done)
    expect(await world.deposited(wallet.address)).toBe(usdcUnits)
    expect(await countTransactions()).toBe(before + 1)
  })

  test('costs a bounded number of transactions when each is overtaken, and reports the reason', async () => {
    const { operationId, wallet } = await orphan()
    const before = await countTransactions()
    for (let nonce = 2; nonce < 2 * MOST_REVERTS; nonce++) {
      await skipPauses(world)
      await world.sign()
      await setNonce(wallet, nonce)
      await sendAndMine()
    }
    expect(await countTransactions()).toBe(before + MOST_REVERTS - 1)
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'signed', tx_id: null, reverts: MOST_REVERTS })
    expect(row?.message).toContain(`reverted ${MOST_REVERTS} times`)
  })
})

describe('a wallet whose account has code of its own', () => {
  test('fails its step with the reason, and nothing is sent', async () => {
    const wallet = await world.createWallet(usdcUnits)
    await setCode(wallet, '0xfe')
    const lent = await world.lend(wallet, usdcUnits)
    const before = await countTransactions()
    for (let i = 0; i < 2; i++) {
      await world.round()
      await world.retryNow(lent)
    }
    expect(await world.row(lent.operationId)).toMatchObject({
      ...{ state: 'rejected', code: 'DEPOSIT_FAILED' },
      message: expect.stringContaining('has code of its own'),
    })
    expect(await countTransactions()).toBe(before)
  })
})
