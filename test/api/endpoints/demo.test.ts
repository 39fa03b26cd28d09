import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setFundingCompleted } from '../../../db/intents/fundings.js'
import { insertTestOperation } from '../../db/rows.js'
import { isBlocked, waitUntilBlocked } from '../../support/blocked.js'
import { startWorld, withoutId, type ApiWorld } from '../api.js'

let world: ApiWorld
let key: string
let users = 0

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
afterAll(() => world.stop())

async function newWallet(): Promise<{ id: string }> {
  const body = { userId: `user ${(users += 1)}` }
  return (await world.api.call('POST', '/v1/wallets', { key, body })).body
}

describe('POST /v1/demo/fund', () => {
  test('while one wallet of an account is locked, another one is funded', async () => {
    const { db } = world.database
    const [held, free] = [await newWallet(), await newWallet()]
    const fund = ({ id: walletId }: { id: string }) =>
      world.api.call('POST', '/v1/demo/fund', { key, body: { walletId } })
    const holder = await db.transaction()
    await holder('wallet').where({ id: held.id }).forUpdate().first('id')
    const stuck = fund(held)
    await waitUntilBlocked(db)
    expect((await fund(free)).status).toBe(201)
    expect(await isBlocked(db)).toBe(true)
    await holder.rollback()
    expect((await stuck).status).toBe(201)
  })
})

describe('GET /v1/demo/fund/:fundingId', () => {
  const txHash = `0x${'f'.repeat(64)}`
  const get = (id: string, as = key) => world.api.call('GET', `/v1/demo/fund/${id}`, { key: as })

  async function fundNew() {
    const { id: walletId } = await newWallet()
    const { body } = await world.api.call('POST', '/v1/demo/fund', { key, body: { walletId } })
    return { funding: body, walletId }
  }
  /** What pays a funding, in some state. */
  async function order({ id }: { id: string }, walletId: string, values: object) {
    const { db } = world.database
    const wallet = await db('wallet').where({ id: walletId }).first<{ account_id: string }>()
    await db('chain')
      .insert({
        ...{ id: 421_614, name: 'arbitrum-sepolia', indexed_block: 9, indexed_hash: '0x' },
        finalized_block: 1,
      })
      .onConflict('id')
      .ignore()
    const owner = { id: walletId, accountId: wallet?.account_id ?? '', address: '', requestId: '' }
    return insertTestOperation(db, owner, id, { kind: 'fund', ...values })
  }
  const inBlock = (success: boolean) => ({
    ...{ state: 'confirmed', success, tx_hash: txHash, block_number: 5, block_hash: '0x05' },
    ...{ log_index: 0, gas_used: '1', gas_cost_usd: '0' },
  })

  test('pending: the response of POST, free of charge', async () => {
    const { funding } = await fundNew()
    const { status, body, headers } = await get(funding.id)
    expect([status, headers.get('x-credits-charged')]).toEqual([200, '0'])
    expect(body).toEqual(funding)
  })

  test('pending: wait reason and start of the wait', async () => {
    const { funding, walletId } = await fundNew()
    await order(funding, walletId, {
      ...{ state: 'deferred', code: 'RPC_ERROR', message: 'why', retry_after: new Date() },
      ...{ waits_for: 'SENDER_GAS', waits_since: new Date('2026-11-20T10:00:00Z') },
    })
    expect((await get(funding.id)).body).toMatchObject({
      status: 'pending',
      waitingFor: { code: 'SENDER_GAS', since: '2026-11-20T10:00:00.000Z' },
    })
  })

  test('completed: the transaction, and when', async () => {
    const { funding, walletId } = await fundNew()
    await order(funding, walletId, inBlock(true))
    const { body } = await get(funding.id)
    expect(body).toEqual({ ...funding, status: 'completed', txHash, endedAt: expect.any(String) })
  })

  test.each([
    ['taken back by the treasury', { ...inBlock(false), message: 'the treasury could not pay' }],
    ['given up', { state: 'cancelled', code: 'NETWORK_ERROR', message: 'not in time' }],
  ])('failed: %s, and why', async (_what, values) => {
    const { funding, walletId } = await fundNew()
    await order(funding, walletId, values)
    const error = { code: 'FUNDING_FAILED', message: values.message }
    expect((await get(funding.id)).body).toMatchObject({ status: 'failed', error })
  })

  describe('?wait', () => {
    /** Resolves when a call was admitted. */
    async function untilCharged(accountId: string, count: number) {
      const { db } = world.database
      const read = () =>
        db('account').where({ id: accountId }).first<{ used: number }>('win_used as used')
      while ((await read()).used < count) await new Promise((resolve) => setTimeout(resolve, 5))
    }

    test('answers when the money has arrived, at no charge', async () => {
      const { db } = world.database
      const { funding, walletId } = await fundNew()
      const { account_id: accountId } = await db('wallet')
        .where({ id: walletId })
        .first<{ account_id: string }>('account_id')
      const { used } = await db('account')
        .where({ id: accountId })
        .first<{ used: number }>('win_used as used')
      const waiting = get(`${funding.id}?wait=60`)
      await untilCharged(accountId, used + 1)
      await order(funding, walletId, inBlock(true))
      await setFundingCompleted(db, funding.id)
      const { status, body, headers } = await waiting
      expect([status, body.status, headers.get('x-credits-charged')]).toEqual([
        200,
        'completed',
        '0',
      ])
    })

    test('answers when the funding has failed, which no event reports', async () => {
      const { funding, walletId } = await fundNew()
      const waiting = get(`${funding.id}?wait=60`)
      await order(funding, walletId, { state: 'cancelled', code: 'NETWORK_ERROR', message: 'late' })
      expect((await waiting).body.status).toBe('failed')
    })

    test('a finished funding is answered at once', async () => {
      const { funding, walletId } = await fundNew()
      await order(funding, walletId, inBlock(true))
      expect((await get(`${funding.id}?wait=60`)).body.status).toBe('completed')
    })

    test('a pending funding is answered after that time', async () => {
      const { funding } = await fundNew()
      expect((await get(`${funding.id}?wait=1`)).body).toEqual(funding)
    })

    test.each(['61', '-1', 'x', ''])('error: INVALID_REQUEST for %s', async (wait) => {
      const { funding } = await fundNew()
      expect((await get(`${funding.id}?wait=${wait}`)).status).toBe(400)
    })
  })

  test('error: FUNDING_NOT_FOUND alike for an unknown one and for that of another account', async () => {
    const { funding } = await fundNew()
    const stranger = await world.newKey()
    const [theirs, unknown] = [await get(funding.id, stranger), await get('fund_x', stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'FUNDING_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })
})

describe('POST /v1/demo/fund', () => {
  const fund = (walletId: unknown, as = key) =>
    world.api.call('POST', '/v1/demo/fund', { key: as, body: { walletId } })
  const fundingsOf = (walletId: string) =>
    world.database
      .db('funding')
      .where({ wallet_id: walletId })
      .select<{ account_id: string }[]>('*')

  test('201: exactly one funding of 1 USDC on arbitrum-sepolia, started once', async () => {
    const { id: walletId } = await newWallet()
    world.temporal.started.length = 0
    const { status, body } = await fund(walletId)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^fund_/),
      ...{ walletId, status: 'pending', chain: 'arbitrum-sepolia', alias: 'arbitrum' },
      ...{ asset: 'USDC', amount: 1 },
      createdAt: expect.any(String),
    })
    expect(await fundingsOf(walletId)).toMatchObject([
      { id: body.id, chain_id: 421_614n, units: '1000000', dispatched_at: expect.any(Date) },
    ])
    expect(world.temporal.started).toMatchObject([
      {
        workflow: 'fundWallet',
        options: {
          ...{ workflowId: body.id, taskQueue: 'intents', args: [{ fundingId: body.id }] },
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowTaskTimeout: 5_000,
          workflowIdConflictPolicy: 'USE_EXISTING',
          // Among those of all accounts it has its turn as an intent has.
          priority: { priorityKey: 3, fairnessKey: (await fundingsOf(walletId))[0]?.account_id },
        },
      },
    ])
  })

  test('error: WALLET_NOT_FOUND for the wallet of another account, and nothing is stored', async () => {
    const { id } = await newWallet()
    const stranger = await world.newKey()
    const unknownId = `svc_wallet_${'0'.repeat(26)}`
    const [theirs, unknown] = [await fund(id, stranger), await fund(unknownId, stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
    expect(await fundingsOf(id)).toEqual([])
  })

  test('error: INVALID_REQUEST for another amount: it cannot be chosen', async () => {
    const { id: walletId } = await newWallet()
    const body = { walletId, amount: 1_000, chain: 'base' }
    const answer = await world.api.call('POST', '/v1/demo/fund', { key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.details).toMatchObject({ issues: [{ path: 'amount' }, { path: 'chain' }] })
    expect(await fundingsOf(walletId)).toEqual([])
  })
})
