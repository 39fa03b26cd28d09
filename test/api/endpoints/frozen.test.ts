import { afterAll, beforeAll, expect, test } from 'vitest'
import { readiness } from '../../../api/schemas/readiness.js'
import { resumeWork, pauseWork } from '../../../db/pauses.js'
import { startChains, type TestChains } from '../../planning/chains.js'
import { startWorld, type ApiWorld } from '../api.js'

const order = { by: 'alice', why: 'a key may have leaked' }

let chains: TestChains
let world: ApiWorld
let key: string
let walletId: string

beforeAll(async () => {
  chains = await startChains(['arbitrum-sepolia'])
  world = await startWorld(chains)
  key = await world.newKey()
  const created = await world.api.call('POST', '/v1/wallets', { key, body: { userId: 'user' } })
  walletId = String(created.body.id)
})
afterAll(async () => {
  await world?.stop()
  await chains?.stop()
})

const calls: [path: string, body: () => object][] = [
  ['/v1/intents', () => ({ walletId, action: 'lend', amount: 1 })],
  ['/v1/intents?dryRun=true', () => ({ walletId, action: 'lend', amount: 1 })],
  ['/v1/demo/fund', () => ({ walletId })],
]

test.each(['wallet', 'account'] as const)(
  'error: FORBIDDEN for calls that would move money of a frozen %s, free of charge and without the reason',
  async (scope) => {
    const wallet = await world.database
      .db('wallet')
      .where({ id: walletId })
      .first<{ account_id: string }>()
    const subject = scope === 'wallet' ? walletId : wallet.account_id
    await pauseWork(world.database.db, { scope, subject }, order)
    const left = await creditsOf()
    for (const [path, body] of calls) {
      const {
        status,
        body: answer,
        text,
      } = await world.api.call('POST', path, { key, body: body() })
      expect([status, answer.error]).toEqual([403, 'FORBIDDEN'])
      expect(answer.message).toContain(`This ${scope} is frozen.`)
      expect(text).not.toContain(order.why)
    }
    expect(await creditsOf()).toBe(left)
    expect((await world.api.call('GET', `/v1/wallets/user`, { key })).status).toBe(200)
    await resumeWork(world.database.db, { scope, subject }, order)
    const [path, body] = calls[0] ?? ['', () => ({})]
    expect((await world.api.call('POST', path, { key, body: body() })).status).not.toBe(403)
  },
)

test('GET /readyz?verbose=true shows the start and the end of a pause at once', async () => {
  const { chainId } = chains.registry.get('arbitrum-sepolia')
  const target = { scope: 'chain', subject: String(chainId) } as const
  const pauses = async () => {
    const { status, body } = await world.api.call('GET', '/readyz?verbose=true', { key })
    expect([status, readiness.parse(body)]).toEqual([200, body])
    const chains = (body as unknown as { chains: { chain: string; checks: { check: string }[] }[] })
      .chains
    return chains.flatMap(({ chain, checks }) => {
      return checks
        .filter(({ check }) => check === 'pause')
        .map(({ ...row }) => ({ chain, ...row }))
    })
  }
  expect(await pauses()).toEqual([])
  await pauseWork(world.database.db, target, order)
  const detail = expect.stringMatching(/^the chain is paused by an operator since \d{4}-\S+Z$/)
  const row = { check: 'pause', outcome: 'failed', detail }
  expect(await pauses()).toEqual([{ chain: 'arbitrum-sepolia', ...row }])
  await resumeWork(world.database.db, target, order)
  expect(await pauses()).toEqual([])
})

async function creditsOf(): Promise<unknown> {
  return (await world.api.call('GET', '/v1/credits', { key })).body.balance
}
