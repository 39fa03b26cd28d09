import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { networks } from '../../../../chains/registry.js'
import { startExecutionWorld, type ExecutionWorld } from '../intents/executionWorld.js'

let world: ExecutionWorld
let walletId: string

beforeAll(async () => {
  world = await startExecutionWorld()
  walletId = (await world.newWallet(0n)).id
})
afterAll(() => world?.stop())

const fund = (body: object) => world.post('/v1/demo/fund', body)
/** Minimal units of USDC on arbitrum-sepolia, the one chain that answers here. */
const holdings = async (id: string) => {
  const { body } = await world.get(`/v1/balances/${id}`)
  const [entry] = body.chains as [{ chain: string; tokens: { asset: string; balance: string }[] }]
  return [entry.chain, ...entry.tokens.map(({ asset, balance }) => `${balance} ${asset}`)]
}

describe('POST /demo/fund', () => {
  test('body: `walletId` is a string', async () => {
    for (const body of [{}, { walletId: 1 }, { walletId: null }]) {
      expect(await fund(body)).toMatchObject({ status: 400, body: { error: 'INVALID_REQUEST' } })
    }
  })

  test('body: an id without a wallet is 404', async () => {
    const answer = await fund({ walletId: 'svc_wallet_none' })
    expect(answer).toMatchObject({ status: 404, body: { error: 'WALLET_NOT_FOUND' } })
  })

  test('sends exactly 1 USDC on `arbitrum-sepolia` to the wallet, after a delay', async () => {
    const funding = await fund({ walletId })
    expect(funding.status).toBe(201)
    expect(await holdings(walletId)).toEqual(['arbitrum-sepolia'])
    await world.pay(funding)
    expect(await holdings(walletId)).toEqual(['arbitrum-sepolia', '1000000 USDC'])
  })

  test.each([
    ['amount', { amount: 5 }],
    ['chain', { chain: 'base-sepolia' }],
  ])('%s: cannot be configured', async (path, more) => {
    const answer = await fund({ walletId, ...more })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } })
  })

  test('testnet only: the service knows no network with real money', () => {
    expect(networks).toEqual(['devnet', 'testnet'])
  })
})
