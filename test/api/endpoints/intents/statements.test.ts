import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { startChains, type TestChains } from '../../../planning/chains.js'
import { startWorld, type World } from '../../api.js'

const usdc = 1_000_000n
/** Everything that any session asks, before it is made. */
const asked = jest.spyOn(pg.Client.prototype as { query(asked: unknown): unknown }, 'query')

let chains: TestChains
let world: World

beforeAll(async () => {
  chains = await startChains()
  world = await startWorld(chains)
})
afterAll(async () => {
  await world?.stop()
  await chains?.stop()
  asked.mockRestore()
})

const textOf = (statement: unknown) =>
  typeof statement === 'string' ? statement : (statement as { text: string }).text

/** What the session of the one transaction of a call was asked, from its begin to its end. */
function readTransaction(): string[] {
  const all = asked.mock.calls.map(([statement], i) => {
    return { session: asked.mock.contexts[i], text: textOf(statement) }
  })
  const { session } = all.find(({ text }) => text.includes('insert into intent ')) ?? {}
  const own = all.filter((one) => one.session === session).map(({ text }) => text)
  const begin = own.findIndex((text) => /^begin/i.test(text))
  return own.slice(begin, own.findIndex((text) => /commit$/i.test(text)) + 1)
}

test('an intent is stored in four ways to the database, whatever it is planned from, and holds its account in the last only', async () => {
  const key = await world.newKey()
  const call = (path: string, body: object) => world.api.call('POST', path, { key, body })
  const { body: wallet } = await call('/v1/wallets', { userId: 'alice' })
  await chains.mint('arbitrum-sepolia', String(wallet.address), 10n * usdc)
  await chains.book(world.database.db)
  asked.mockClear()
  // Over the bridge, and into a market there.
  const wish = { walletId: wallet.id, action: 'lend', amount: 1, chain: 'base-sepolia' }
  const { status, body } = await call('/v1/intents', wish)
  expect(status).toBe(201)
  const held = await world.database.db('reservation').where({ intent_id: body.id })
  expect(held.length).toBeGreaterThan(1)
  expect(readTransaction()).toEqual([
    expect.stringMatching(/^begin; .*'app.account'.* from wallet where .* for no key update$/),
    expect.stringContaining('block_header'),
    expect.stringContaining('insert into reservation'),
    expect.stringMatching(/^select pay_call\(.*\); commit$/),
  ])
})
