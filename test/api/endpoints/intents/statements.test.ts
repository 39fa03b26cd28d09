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

/** Has somebody lend over the bridge, and into a market there; what was asked before is forgotten. */
async function lend(userId: string, headers: Record<string, string> = {}) {
  const key = await world.newKey()
  const call = (path: string, body: object, said = {}) =>
    world.api.call('POST', path, { key, body, headers: said })
  const { body: wallet } = await call('/v1/wallets', { userId })
  await chains.mint('arbitrum-sepolia', String(wallet.address), 10n * usdc)
  await chains.book(world.database.db)
  asked.mockClear()
  const wish = { walletId: wallet.id, action: 'lend', amount: 1, chain: 'base-sepolia' }
  const { status, body } = await call('/v1/intents', wish, headers)
  expect(status).toBe(201)
  const held = await world.database.db('reservation').where({ intent_id: body.id })
  expect(held.length).toBeGreaterThan(1)
}

test('a named intent is stored in six ways to the database, whatever it is planned from, and holds its account in the last only', async () => {
  await lend('alice', { 'idempotency-key': 'once' })
  expect(readTransaction()).toEqual([
    expect.stringMatching(/^begin; .*'app.account'.* from wallet where .* for no key update$/),
    expect.stringContaining('idempotency_key'),
    expect.stringContaining('block_header'),
    expect.stringContaining('insert into reservation'),
    expect.stringContaining('idempotency_key'),
    expect.stringMatching(/^select pay_call\(.*\); commit$/),
  ])
})

test('one without a name is stored in two, and is in no transaction of ours', async () => {
  await lend('bob')
  const all = asked.mock.calls.map(([statement]) => textOf(statement))
  const planned = all.findIndex((text) => text.includes('block_header'))
  expect(all.slice(planned, planned + 2)).toEqual([
    expect.stringContaining('block_header'),
    expect.stringContaining('submit_intents'),
  ])
  expect(all.filter((text) => /^begin|pay_call|insert into intent /i.test(text))).toEqual([])
})
