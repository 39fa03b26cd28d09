import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Wallet as Account, hexlify, randomBytes } from 'ethers'
import { DELEGATED_CODE, DELEGATE_ADDRESS } from '../../../evm/registry.js'
import { encodeTransfer, typedTransfer, type Payload } from '../../../signer/build/payload.js'
import {
  buildUserOperation,
  encodeBatch,
  bundledGas,
  typedUserOperation,
} from '../../../evm/calls/userOperation.js'
import { indexSpentKeys } from '../../../relayer/foreignExecutions.js'
import { encodeMint } from '../../../evm/bridges/cctp/contracts.js'
import { attest, createArrival } from '../../relayer/bridge/crossing.js'
import {
  createWorld,
  finalityBlocks,
  usdcUnits,
  type Submitted,
  type World,
} from '../../relayer/world/fixture.js'
import { executeFirst } from '../../relayer/world/scenes/stranger.js'
import { skipPauses } from '../../relayer/world/treasury.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'

const fresh = () => new Account(hexlify(randomBytes(32)))

/** A stored user operation, signed by an account for a sender. */
async function signFor(chainId: number, key: string, who: { sender: string; signer: Account }) {
  const callGas = 300_000n
  const draft = buildUserOperation({ sender: who.sender, key, callData: encodeBatch([]), callGas })
  const { domain, types, message } = typedUserOperation(chainId, draft)
  const signature = await who.signer.signTypedData(domain, types, message)
  return { gas: bundledGas(callGas).toString(), userOperation: { ...draft, signature } }
}

describe('a forged stored signature is never included:', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())
  beforeEach(() => {
    world.logs.length = 0
  })

  /** A signed row, written by the owner of the database. */
  const forge = async ({ operationId }: Submitted, payload: object) => {
    await world.db('signature').where({ operation_id: operationId }).delete()
    const row = { operation_id: operationId, payload: JSON.stringify(payload) }
    await world.db('signature').insert(row)
    const values = { state: 'signed', tx_id: null, leased_until: null }
    await world.db('operation').where({ id: operationId }).update(values)
  }
  const expectNeverIncluded = async ({ operationId }: Submitted) => {
    const before = (await world.transactions()).length
    await world.sign()
    await world.sign()
    expect(await world.transactions()).toHaveLength(before)
    expect(await world.row(operationId)).toMatchObject({ state: 'signed', tx_id: null })
    const alarms = world.logs.filter(({ level }) => level === 'error')
    expect(alarms).toMatchObject([{ facts: { operation: operationId } }])
    await world.db('operation').where({ id: operationId }).update({ state: 'cancelled' })
  }
  const lend = async () => world.lend(await world.createWallet(usdcUnits), usdcUnits)
  /** The payload that the signer signs for a deposit. */
  const signLend = async () => {
    const lent = await lend()
    await world.sign()
    const payload = (await world.row(lent.operationId))?.payload as Payload
    return { ...lent, payload }
  }
  const keyOf = async ({ operationId }: Submitted) =>
    (await world.row(operationId))?.chain_key ?? ''

  test('a user operation of a foreign account', async () => {
    const signer = fresh()
    const lent = await lend()
    const sender = signer.address
    await forge(lent, await signFor(world.chain.chainId, await keyOf(lent), { sender, signer }))
    await expectNeverIncluded(lent)
  })

  test('a user operation for the wallet with a foreign signature', async () => {
    const lent = await lend()
    const { address: sender } = lent.wallet
    const who = { sender, signer: fresh() }
    await forge(lent, await signFor(world.chain.chainId, await keyOf(lent), who))
    await expectNeverIncluded(lent)
  })

  test('a user operation that the wallet signed for another operation', async () => {
    const [known, lent] = [await signLend(), await lend()]
    await forge(lent, known.payload)
    await expectNeverIncluded(lent)
  })

  test('a user operation with changed calls', async () => {
    const { payload, ...lent } = await signLend()
    await forge(lent, {
      ...payload,
      userOperation: { ...payload.userOperation, callData: '0x' },
    })
    await expectNeverIncluded(lent)
  })

  test.each([
    ['gas of its own choice', { gas: '14000000' }],
    ['a call beside it', { call: { to: DELEGATE_ADDRESS, data: '0x' } }],
  ])('one with %s', async (_what, more) => {
    const { payload, ...lent } = await signLend()
    await forge(lent, { ...payload, ...more })
    await expectNeverIncluded(lent)
  })

  test('a user operation with the delegation of a foreign account', async () => {
    const { payload, ...lent } = await signLend()
    const { chainId } = world.chain
    const proof = fresh().authorizeSync({ address: DELEGATE_ADDRESS, nonce: 0, chainId })
    const authorization = {
      ...{ address: DELEGATE_ADDRESS, nonce: '0', chainId: `${chainId}` },
      signature: proof.signature.serialized,
    }
    await forge(lent, { ...payload, authorization })
    await expectNeverIncluded(lent)
  })

  const payment = async (from: Account, to: string, key: string, value = usdcUnits) => {
    const typed = typedTransfer(world.chain, { from: from.address, to, value, nonce: key })
    const signature = await from.signTypedData(typed.domain, typed.types, typed.message)
    return { gas: '200000', call: encodeTransfer(world.chain, typed, signature) }
  }
  const fund = async () => world.fund(await world.createWallet(0n))

  test('a payment of a foreign account', async () => {
    const funding = await fund()
    const key = await keyOf(funding)
    await forge(funding, await payment(fresh(), funding.wallet.address, key))
    await expectNeverIncluded(funding)
  })

  test("the treasury's payment of another funding", async () => {
    const [known, funding] = [await fund(), await fund()]
    await world.sign()
    const payload = (await world.row(known.operationId))?.payload
    await forge(funding, payload as object)
    await expectNeverIncluded(funding)
  })

  test('a mint of another message', async () => {
    const wallet = await world.createWallet(0n)
    const arrival = await createArrival(world, wallet, usdcUnits)
    const submitted = await world.submit(arrival.order)
    const other = attest(world, { recipient: fresh().address, units: usdcUnits })
    await forge(submitted, { gas: '300000', call: encodeMint(world.chain, other) })
    await expectNeverIncluded(submitted)
  })
})

describe('a signed operation without a transaction', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())
  beforeEach(() => {
    world.logs.length = 0
  })

  /** With code of its own the wallet cannot be delegated, and every operation of it reverts. */
  const setCode = ({ address }: StoredWallet, code: string) =>
    world.rpc('anvil_setCode', [address, code])
  /** A wallet with a delegation, which is final when it is old. */
  const delegatedWallet = async (age: number) => {
    const wallet = await world.createWallet(4n * usdcUnits)
    await world.lend(wallet, usdcUnits)
    await world.round()
    await world.mine(age)
    await world.index()
    return wallet
  }
  const sendAndMine = async () => {
    await world.broadcast()
    await world.mine()
    await world.index()
  }
  /** A deposit whose transaction reverted. */
  const orphan = async (age: number) => {
    const wallet = await delegatedWallet(age)
    const lent = await world.lend(wallet, usdcUnits)
    await world.sign()
    await setCode(wallet, '0xfe')
    await sendAndMine()
    const dropped = { state: 'signed', tx_id: null, inclusion_failures: 1 }
    expect(await world.row(lent.operationId)).toMatchObject(dropped)
    return { ...lent, repair: () => setCode(wallet, DELEGATED_CODE) }
  }
  const countTransactions = async () => (await world.transactions()).length

  test('is not resubmitted after a foreign execution, and its log is found', async () => {
    const { operationId, wallet, repair } = await orphan(0)
    await repair()
    const before = await countTransactions()
    const row = world.db('operation').where({ id: operationId })
    const { chain_key } = (await world.row(operationId)) ?? {}
    const hash = await executeFirst(world, operationId)
    // As if the block had been indexed while the row was missing.
    await row.clone().update({ chain_key: 'absent' })
    await world.index()
    await row.clone().update({ chain_key })

    await skipPauses(world)
    await world.sign()
    expect(await countTransactions()).toBe(before)
    const found = await world.row(operationId)
    expect(found).toMatchObject({ state: 'signed', tx_id: null })
    expect(found?.spent_since).not.toBeNull()
    expect(found?.message).toContain('already executed')
    await indexSpentKeys(world.driver())
    await world.mine()
    await world.index()
    const done = { state: 'confirmed', success: true, tx_hash: hash }
    expect(await world.row(operationId)).toMatchObject(done)
    expect(await world.deposited(wallet.address)).toBe(2n * usdcUnits)
  })

  test('that would revert costs no gas, stores the reason, and is resubmitted when it would succeed', async () => {
    const { operationId, wallet, repair } = await orphan(2 * finalityBlocks)
    const before = await countTransactions()
    for (const failures of [2, 3]) {
      await skipPauses(world)
      await world.sign()
      const row = await world.row(operationId)
      expect(row).toMatchObject({ state: 'signed', tx_id: null, inclusion_failures: failures })
      expect(row?.message).toMatch(/^The operation cannot be included now: ./)
    }
    expect(await countTransactions()).toBe(before)
    await repair()
    await skipPauses(world)
    await world.round()
    const done = { state: 'confirmed', success: true, inclusion_failures: 0, message: null }
    expect(await world.row(operationId)).toMatchObject(done)
    expect(await world.deposited(wallet.address)).toBe(2n * usdcUnits)
  })

  test('is retried with growing pauses, and logged once', async () => {
    const { operationId, repair } = await orphan(0)
    const before = await countTransactions()
    const attempts: number[] = []
    // Two hours in steps of one minute.
    for (let minute = 1; minute <= 120; minute++) {
      await world
        .db('operation')
        .where({ id: operationId })
        .update({ leased_until: world.db.raw("leased_until - interval '1 minute'") })
      if (!(await world.sign())) continue
      attempts.push(minute)
      await sendAndMine()
    }
    // After 5 s, doubled up to ten minutes; after ten failures in a row once an hour.
    expect(attempts.length).toBeLessThanOrEqual(11)
    expect(attempts.filter((minute) => minute <= 10).length).toBeLessThan(8)
    expect(await countTransactions()).toBe(before)
    const gaps = attempts.slice(1).map((minute, i) => minute - (attempts[i] ?? 0))
    expect(gaps).toEqual([...gaps].sort((a, b) => a - b))
    const alarms = world.logs.filter(({ level }) => level === 'error')
    expect(alarms).toMatchObject([{ facts: { operation: operationId } }])

    await repair()
    await skipPauses(world)
    await world.round()
    const done = { state: 'confirmed', success: true, inclusion_failures: 0 }
    expect(await world.row(operationId)).toMatchObject(done)
  })

  test('starts again after a reorg has removed its block', async () => {
    const { operationId, repair } = await orphan(0)
    await world.rpc('anvil_reorg', [1, []])
    await repair()
    await world.index()
    expect(await world.row(operationId)).toMatchObject({ state: 'signed', inclusion_failures: 0 })
    await sendAndMine()
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ success: true })
  })
})
