import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentChains } from '../../planning/chains.js'
import { startWorld, type ApiWorld } from '../api.js'

const DAY_S = 86_400
const limits = { perWallet: 1, perAccount: 3 }

let world: ApiWorld
let key: string
let users = 0

beforeAll(async () => {
  world = await startWorld(silentChains(), { fundingLimits: limits })
})
beforeEach(async () => {
  key = await world.newKey()
})
afterAll(() => world?.stop())

const newWallet = async (as = key) => {
  const body = { userId: `user ${(users += 1)}` }
  return (await world.api.call('POST', '/v1/wallets', { key: as, body })).body.id
}
const fund = (walletId: string, headers: object = {}) =>
  world.api.call('POST', '/v1/demo/fund', { key, body: { walletId }, headers })
const fundingsOf = (walletId: string) => world.database.db('funding').where({ wallet_id: walletId })
/** Turns the time of a funding back. */
const age = (id: string, seconds: number) =>
  world.database
    .db('funding')
    .where({ id })
    .update({ created_at: new Date(Date.now() - 1_000 * seconds) })

/** The operation of a funding, as the relayer leaves it. */
async function end(id: string, values: object): Promise<void> {
  const { db } = world.database
  const funding = await db('funding').where({ id }).first<Record<string, unknown>>()
  const { account_id, wallet_id, chain_id } = funding
  await db('operation').insert({
    ...{ id: `op of ${id}`, intent_id: id, sequence: 1, kind: 'fund', min_block: 0 },
    ...{ account_id, wallet_id, chain_id, chain_key: id, ...values },
  })
}

describe('POST /v1/demo/fund with limits', () => {
  test('error: RATE_LIMITED for the second one of a wallet within a day, and nothing is stored', async () => {
    const wallet = await newWallet()
    const { body } = await fund(wallet)
    await age(body.id, DAY_S - 100)
    const again = await fund(wallet)
    expect([again.status, again.body.error]).toEqual([429, 'RATE_LIMITED'])
    expect(again.body.message).toMatch(
      /^A wallet is funded at most once a day\. Try again in \d+ s\.$/,
    )
    const { retryAfter } = again.body.details
    expect(again.body.details).toMatchObject({ limit: 1, window: '1 day' })
    expect(again.headers.get('retry-after')).toBe(String(retryAfter))
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThanOrEqual(100)
    expect(await fundingsOf(wallet)).toHaveLength(1)
    await age(body.id, DAY_S)
    expect((await fund(wallet)).status).toBe(201)
  })

  test("error: RATE_LIMITED above the account's limit for all wallets; other accounts are not affected", async () => {
    const wallets = [await newWallet(), await newWallet(), await newWallet(), await newWallet()]
    const answers = [await fund(wallets[0] ?? ''), await fund(wallets[1] ?? '')]
    answers.push(await fund(wallets[2] ?? ''))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    const refused = await fund(wallets[3] ?? '')
    expect(refused.status).toBe(429)
    expect(refused.body.message).toContain('An account is funded at most 3 times a day.')
    expect(refused.body.details).toMatchObject({ limit: 3, window: '1 day' })
    await age(answers[0]?.body.id ?? '', DAY_S)
    expect((await fund(wallets[3] ?? '')).status).toBe(201)
    key = await world.newKey()
    expect((await fund(await newWallet())).status).toBe(201)
  })

  test('of many concurrent calls as many succeed as the limit allows', async () => {
    const wallets: string[] = []
    for (let i = 0; i < 8; i++) wallets.push(await newWallet())
    const answers = await Promise.all(wallets.map((wallet) => fund(wallet)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(limits.perAccount)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(8 - limits.perAccount)
    const one = await Promise.all([1, 2, 3].map(() => fund(wallets[0] ?? '')))
    expect(one.filter(({ status }) => status === 201)).toEqual([])
  })

  test('a repeated call gets the first response', async () => {
    const wallet = await newWallet()
    const headers = { 'idempotency-key': 'once' }
    const [first, second] = [await fund(wallet, headers), await fund(wallet, headers)]
    expect([second.status, second.text]).toEqual([201, first.text])
  })

  test.each([
    ['rejected', { state: 'rejected', code: 'FUNDING_FAILED', message: 'no money' }, 201],
    [
      'taken back for good',
      { state: 'final', success: false, block_hash: '0x01', block_number: 1 },
      201,
    ],
    ['paid', { state: 'final', success: true, block_hash: '0x01', block_number: 1 }, 429],
    ['under way', { state: 'signed' }, 429],
  ])('after one that was %s', async (_what, values, status) => {
    const wallet = await newWallet()
    const { body } = await fund(wallet)
    await end(body.id, values)
    expect((await fund(wallet)).status).toBe(status)
  })
})
