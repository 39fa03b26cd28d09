import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertSignatures } from '../../operations/signing/signatures.js'
import { createSealedAccount } from '../../custody/account.js'
import { insertWallet, newWalletId } from '../../db/accounts/wallets.js'
import { forge } from '../relayer/world/scenes/forge.js'
import { createWorld, owner, usdcUnits, type Lend, type World } from '../relayer/world/fixture.js'
import { changeUnbound } from '../relayer/world/scenes/unbound.js'

describe('the signer rejects', () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world?.stop())

  const change = (lend: Lend, values: object) =>
    world.db('operation').where({ id: lend.operationId }).update(values)

  const expectRefused = async (lend: Lend) => {
    await world.sign()
    const row = await world.row(lend.operationId)
    expect(row).toMatchObject({ state: 'deferred', payload: null, tx_id: null })
    expect(row?.message).toMatch(/^Signing rejected|Unexpected/)
    expect(await world.transactions()).toHaveLength(0)
    await world.db('operation').where({ id: lend.operationId }).update({ state: 'cancelled' })
  }
  const createLend = async () => world.lend(await world.createWallet(9n * usdcUnits), usdcUnits)

  test.each(['1.000001', '0.000001'])('a plan of %s for a request of 1', async (amount) => {
    const lend = await createLend()
    await forge(world, lend.intentId, 1, { amount })
    await expectRefused(lend)
  })

  test('another wallet than the one of the plan', async () => {
    const lend = await createLend()
    const other = await world.createWallet(9n * usdcUnits)
    await expect(change(lend, { wallet_id: other.id })).rejects.toMatchObject({ code: '23503' })
    await changeUnbound(world, lend.operationId, { wallet_id: other.id })
    await expectRefused(lend)
  })

  test('an account other than the owner of the wallet', async () => {
    const lend = await createLend()
    const { id } = await world.createAccount('pro')
    await expect(change(lend, { account_id: id })).rejects.toMatchObject({ code: '23503' })
    await changeUnbound(world, lend.operationId, { account_id: id })
    await expectRefused(lend)
  })

  test('a market that is not in the deployment', async () => {
    const lend = await createLend()
    const plan = world.db.raw(
      `replace(plan::text, ?, '0x00000000000000000000000000000000000000ff')::json`,
      [world.contracts.aavePool],
    )
    await world.db('intent').where({ id: lend.intentId }).update({ plan })
    await expectRefused(lend)
  })

  test('a step planned for another chain', async () => {
    const lend = await createLend()
    const plan = world.db.raw(`replace(plan::text, 'arbitrum-sepolia', 'base-sepolia')::json`)
    await world.db('intent').where({ id: lend.intentId }).update({ plan })
    await expectRefused(lend)
  })

  test('a step that is not in the plan', async () => {
    const lend = await createLend()
    await change(lend, { sequence: 2 })
    await expectRefused(lend)
  })

  test('a key that does not belong to the effect, because it could happen twice', async () => {
    const lend = await createLend()
    const key = (await world.row(lend.operationId))?.chain_key ?? ''
    await change(lend, { chain_key: key.replace(/.$/, (last) => (last === '0' ? '1' : '0')) })
    await expectRefused(lend)
  })

  test('a funding of another amount', async () => {
    const funding = await world.fund(await world.createWallet(0n))
    await world.db('funding').where({ id: funding.intentId }).update({ units: '2000000' })
    await expectRefused(funding)
  })

  test('a funding of another wallet', async () => {
    const funding = await world.fund(await world.createWallet(0n))
    const { id } = await world.createWallet(0n)
    await expect(change(funding, { wallet_id: id })).rejects.toMatchObject({ code: '23503' })
    await changeUnbound(world, funding.operationId, { wallet_id: id })
    await expectRefused(funding)
  })

  test.each([
    ['of another address', (sealed: Uint8Array) => sealed],
    ['that does not open', (sealed: Uint8Array) => sealed.map((byte) => byte ^ 1)],
  ])('a funding of a wallet with a key %s', async (_, change) => {
    const { account, kek } = world
    const id = newWalletId()
    const owning = { purpose: 'wallet', owner: id, accountId: account.id } as const
    const { sealed } = createSealedAccount(kek, () => owning)
    const row = { id, accountId: account.id, userId: id, metadata: {} }
    const address = Wallet.createRandom().address
    const secret = { kekId: kek.id, sealed: Buffer.from(change(sealed)) }
    const forged = await insertWallet(world.db, { ...row, address }, secret)
    if (!forged) throw new Error('The wallet was not stored.')
    await expectRefused(await world.fund(forged))
  })

  test('an operation of a finished intent', async () => {
    const lend = await createLend()
    const failed = { status: 'failed', error: JSON.stringify({ code: 'CANCELLED' }) }
    await world.db('intent').where({ id: lend.intentId }).update(failed)
    await world.sign()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'queued', payload: null })
  })

  test('a forged call in a row', async () => {
    const lend = await createLend()
    const payload = { gas: '100000', call: { to: owner, data: '0x' } }
    await insertSignatures(world.db, [{ operationId: lend.operationId, payload }])
    await change(lend, { state: 'signed' })
    await world.sign()
    expect(await world.transactions()).toHaveLength(0)
  })
})
