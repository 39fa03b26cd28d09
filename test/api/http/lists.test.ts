import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { intent } from '../../../api/schemas/intents.js'
import { listOf, wallet as walletSchema } from '../../../api/schemas/resources.js'
import { createApiKey } from '../../../db/accounts/accounts.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../../db/rows.js'
import { startWorld, type ApiResponse, type ApiWorld } from '../api.js'

let world: ApiWorld
let wallet: TestWallet
let key: string
/** Newest first, as lists answer them. */
let ids: string[]

beforeAll(async () => {
  world = await startWorld()
  const { db } = world.database
  wallet = await insertTestWallet(db)
  key = await createApiKey(db, wallet.accountId, { name: 'test' })
  await db('chain').insert({
    ...{ id: 421_614, name: 'arbitrum-sepolia', indexed_block: 9, indexed_hash: '0x' },
    finalized_block: 1,
  })
  ids = []
  const states = ['pending', 'planning', 'executing', 'completed', 'failed'] as const
  for (const status of states) ids.unshift(await insertTestIntent(db, wallet, status))
  await insertTestIntent(db, await insertTestWallet(db, '0xother'), 'planning')
})
afterAll(() => world?.stop())

const list = (path: string, as = key) => world.api.call('GET', `/v1/${path}`, { key: as })
const page = (answer: ApiResponse) =>
  answer.body as unknown as {
    data: { id: string; userId: string }[]
    hasMore: boolean
    nextCursor: string | null
  }
const idsOf = (answer: ApiResponse) => page(answer).data.map(({ id }) => id)

describe('GET /v1/intents', () => {
  test('200: all intents of the account, newest first, equal to the single reads', async () => {
    const answer = await list('intents')
    expect([answer.status, answer.headers.get('x-credits-charged')]).toEqual([200, '1'])
    expect(listOf(intent, 'Any', '').parse(answer.body)).toEqual(answer.body)
    expect(idsOf(answer)).toEqual(ids)
    expect(page(answer)).toMatchObject({ hasMore: false, nextCursor: null })
    for (const one of page(answer).data) {
      expect((await list(`intents/${one.id}`)).body).toEqual(one)
    }
  })

  test('shows the transactions of each', async () => {
    const [id] = await Promise.all([insertTestIntent(world.database.db, wallet, 'executing')])
    await insertTestOperation(world.database.db, wallet, id, {
      ...{ state: 'confirmed', success: true, tx_hash: `0x${'a'.repeat(64)}`, block_number: 5 },
      ...{ block_hash: '0xb', log_index: 0, gas_used: '7', gas_cost_usd: '0.1', units: '1' },
    })
    const [first] = page(await list('intents?limit=1')).data
    expect(first).toMatchObject({ id, results: { completedSteps: 1, totalGasUsed: '7' } })
    await world.database.db('operation').where({ intent_id: id }).delete()
    await world.database.db('intent').where({ id }).delete()
  })

  test.each([1, 2, 3, 5, 100])(
    'pages of %d together are the whole, nothing twice',
    async (limit) => {
      const seen: string[] = []
      let cursor = ''
      for (let pages = 0; pages < 6; pages++) {
        const answer = await list(`intents?limit=${limit}${cursor}`)
        expect(idsOf(answer).length).toBeLessThanOrEqual(limit)
        seen.push(...idsOf(answer))
        const { hasMore, nextCursor } = page(answer)
        expect(hasMore).toBe(nextCursor !== null)
        if (!nextCursor) break
        cursor = `&cursor=${nextCursor}`
      }
      expect(seen).toEqual(ids)
    },
  )

  test('a page with exactly the remaining entries is the last one', async () => {
    const whole = page(await list(`intents?limit=${ids.length}`))
    expect(whole).toMatchObject({ hasMore: false, nextCursor: null })
    expect(whole.data).toHaveLength(ids.length)
    const first = page(await list('intents?limit=3'))
    expect(first.hasMore).toBe(true)
    const rest = page(await list(`intents?limit=2&cursor=${first.nextCursor}`))
    expect(rest).toMatchObject({ hasMore: false, nextCursor: null })
    expect(rest.data.map(({ id }) => id)).toEqual(ids.slice(3))
  })

  test('a new intent does not move the next page', async () => {
    const first = await list('intents?limit=2')
    const id = await insertTestIntent(world.database.db, wallet, 'planning')
    const second = await list(`intents?limit=2&cursor=${page(first).nextCursor}`)
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.slice(0, 4))
    await world.database.db('intent').where({ id }).delete()
  })

  test('filters by wallet, status and action', async () => {
    expect(idsOf(await list(`intents?walletId=${wallet.id}`))).toEqual(ids)
    expect(idsOf(await list('intents?walletId=svc_wallet_unknown'))).toEqual([])
    expect(idsOf(await list('intents?status=completed'))).toEqual([ids[1]])
    expect(idsOf(await list(`intents?status=failed&action=lend&walletId=${wallet.id}`))).toEqual([
      ids[0],
    ])
    expect(idsOf(await list('intents?action=bridge'))).toEqual([])
  })

  test('a wallet of another account equals one that does not exist', async () => {
    const stranger = await insertTestWallet(world.database.db, '0xstranger')
    await insertTestIntent(world.database.db, stranger, 'planning')
    expect(idsOf(await list(`intents?walletId=${stranger.id}`))).toEqual([])
    expect(idsOf(await list('intents', await world.newKey()))).toEqual([])
  })

  test.each([
    ['limit', 'intents?limit=0'],
    ['limit', 'intents?limit=101'],
    ['limit', 'intents?limit=-1'],
    ['limit', 'intents?limit=1.5'],
    ['limit', 'intents?limit=ten'],
    ['limit', 'intents?limit='],
    ['status', 'intents?status=done'],
    ['action', 'intents?action=swap'],
    ['cursor', 'intents?cursor=x'],
    ['cursor', 'intents?cursor='],
    ['cursor', `intents?cursor=${encodeURIComponent("intent_' or true")}`],
    ['cursor', `wallets?cursor=intent_${'0'.repeat(26)}`],
    ['wallet', 'intents?wallet=x'],
    ['userId', `wallets?userId=${'x'.repeat(129)}`],
  ])('error: INVALID_REQUEST names %s in %s', async (path, url) => {
    const { status, body } = await list(url)
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.issues).toMatchObject([{ path }])
  })
})

describe('GET /v1/wallets', () => {
  test('200: the wallets of the account, newest first, page by page', async () => {
    const owner = await world.newKey()
    const created: string[] = []
    for (const userId of ['a', 'b', 'c']) {
      const body = { userId, metadata: { userId } }
      created.unshift((await world.api.call('POST', '/v1/wallets', { key: owner, body })).body.id)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const first = await list('wallets?limit=2', owner)
    expect(first.headers.get('x-credits-charged')).toBe('1')
    expect(listOf(walletSchema, 'Any', '').parse(first.body)).toEqual(first.body)
    const second = await list(`wallets?limit=2&cursor=${page(first).nextCursor}`, owner)
    expect([...idsOf(first), ...idsOf(second)]).toEqual(created)
    expect([page(first).hasMore, page(second).hasMore]).toEqual([true, false])
    expect(page(second).nextCursor).toBeNull()
    const exact = page(await list('wallets?limit=3', owner))
    expect(exact).toMatchObject({ data: { length: 3 }, hasMore: false, nextCursor: null })
    for (const one of page(first).data) {
      expect((await list(`wallets/${one.userId}`, owner)).body).toEqual(one)
    }
    expect(idsOf(await list('wallets?userId=b', owner))).toEqual([created[1]])
    expect(idsOf(await list('wallets?userId=z', owner))).toEqual([])
  })
})
