import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startWorld, withoutId, type World } from '../api.js'

let world: World
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
  const fund = (walletId: unknown, as = key) =>
    world.api.call('POST', '/v1/demo/fund', { key: as, body: { walletId } })
  const fundingsOf = (walletId: string) =>
    world.database.db('funding').where({ wallet_id: walletId })

  test('201: exactly one funding of 1 USDC on arbitrum-sepolia, started once', async () => {
    const { id: walletId } = await newWallet()
    world.temporal.started.length = 0
    const { status, body } = await fund(walletId)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^fund_/),
      ...{ walletId, status: 'pending', chain: 'arbitrum-sepolia', asset: 'USDC', amount: 1 },
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
          workflowIdConflictPolicy: 'USE_EXISTING',
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
