import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startWorld, type World } from './api.js'

let world: World
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
afterAll(() => world?.stop())

const post = (body: unknown) => world.api.call('POST', '/v1/intents', { key, body })
const any = { walletId: 'w', amount: 1 }
const withdraw = { ...any, action: 'withdraw', chain: 'base' }
const bridge = { ...any, action: 'bridge', fromChain: 'base', toChain: 'arbitrum-sepolia' }

describe('POST /v1/intents: fields of withdraw and bridge', () => {
  test.each([
    withdraw,
    bridge,
    { ...withdraw, asset: 'USDC', amount: '0.5' },
    { ...withdraw, amount: 'max' },
    { ...bridge, toChain: 'ethereum' },
  ])('%j is valid: only its wallet is unknown, and nothing is charged', async (body) => {
    const answer = await post(body)
    expect([answer.status, answer.body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
    expect(answer.headers.get('x-credits-charged')).toBe('0')
  })

  test.each([
    ['chain', { ...withdraw, chain: undefined }],
    ['chain', { ...withdraw, chain: 'solana' }],
    ['chain', { ...withdraw, chain: '' }],
    ['fromChain', { ...withdraw, fromChain: 'base' }],
    ['toChain', { ...withdraw, toChain: 'base' }],
    ['asset', { ...withdraw, asset: 'ETH' }],
    ['amount', { ...withdraw, amount: 0 }],
    ['amount', { ...withdraw, amount: 1e-7 }],
    ['fromChain', { ...bridge, fromChain: undefined }],
    ['toChain', { ...bridge, toChain: undefined }],
    ['fromChain', { ...bridge, fromChain: 'solana' }],
    ['toChain', { ...bridge, toChain: 'solana' }],
    ['toChain', { ...bridge, toChain: 'base' }],
    ['toChain', { ...bridge, toChain: 'base-sepolia' }],
    ['chain', { ...bridge, chain: 'base' }],
    ['asset', { ...bridge, asset: 'ETH' }],
    ['toChain', { ...any, action: 'lend', toChain: 'base' }],
    ['action', { ...any, action: 'swap' }],
    ['action', any],
  ])('error: INVALID_REQUEST names %s in %j', async (path, body) => {
    const answer = await post(body)
    expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(answer.body.details.issues).toEqual([{ path, message: expect.any(String) }])
    expect(answer.body.details).not.toHaveProperty('reason')
  })
})
