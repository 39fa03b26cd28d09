import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listOf, yieldSnapshot } from '../../../api/schemas/resources.js'
import { recordYields } from '../../../activities/yields.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { silentChains, startChains, type TestChains } from '../../planning/chains.js'
import { startWorld, type ApiResponse, type ApiWorld } from '../api.js'

let chains: TestChains
let world: ApiWorld
let worker: Db
let key: string

const moments = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:05:00.000Z', '2026-01-01T00:10:00.000Z']

beforeAll(async () => {
  chains = await startChains(['arbitrum-sepolia', 'base-sepolia'])
  world = await startWorld()
  worker = connect(world.database.urlAs('steward_worker'))
  key = await world.newKey()
  for (const takenAt of moments)
    await recordYields({ db: worker, chains: chains.chains }, { takenAt })
})
afterAll(async () => {
  await worker?.destroy()
  await world?.stop()
  await chains?.stop()
})

const get = (query = '') => world.api.call('GET', `/v1/yields/history${query}`, { key })
type Point = { chain: string; apy: number; takenAt: string }
const page = (answer: ApiResponse) =>
  answer.body as unknown as { data: Point[]; hasMore: boolean; nextCursor: string | null }
const timesOf = (answer: ApiResponse) => page(answer).data.map(({ takenAt }) => takenAt)

describe('recordYields', () => {
  test('stores the rates of the chains that answer, and names the others', async () => {
    const tools = { db: worker, chains: chains.chains }
    expect(await recordYields(tools, { takenAt: moments[0] ?? '' })).toEqual({
      ...{ recorded: 3, unavailable: ['ethereum-sepolia'] },
    })
  })

  test('safe to repeat: a moment has one rate per market', async () => {
    const [row] = await world.database.db('yield_snapshot').count<{ n: bigint }[]>('* as n')
    expect(row?.n).toBe(9n)
  })

  test('error: UNAVAILABLE when no chain answers, and nothing is stored', async () => {
    const tools = { db: worker, chains: silentChains().chains }
    const recorded = recordYields(tools, { takenAt: '2026-01-02T00:00:00.000Z' })
    await expect(recorded).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(page(await get('?from=2026-01-02T00:00:00Z')).data).toEqual([])
  })
})

describe('GET /v1/yields/history', () => {
  test('200: past rates, newest first', async () => {
    const answer = await get()
    expect([answer.status, answer.headers.get('x-credits-charged')]).toEqual([200, '1'])
    expect(listOf(yieldSnapshot, 'Any', '').parse(answer.body)).toEqual(answer.body)
    expect(page(answer)).toMatchObject({ hasMore: false, nextCursor: null })
    expect(timesOf(answer)).toEqual([2, 2, 2, 1, 1, 1, 0, 0, 0].map((n) => moments[n]))
    const rates = page(answer).data.filter(({ chain }) => chain === 'arbitrum-sepolia')
    for (const { apy } of rates) expect(apy).toBeCloseTo(3.51, 1)
  })

  test('page by page', async () => {
    const first = await get('?limit=5')
    const second = await get(`?limit=5&cursor=${page(first).nextCursor}`)
    expect([page(first).hasMore, page(second).hasMore]).toEqual([true, false])
    expect([...page(first).data, ...page(second).data]).toEqual(page(await get()).data)
    for (const last of [page(await get('?limit=9')), page(second)]) {
      expect(last).toMatchObject({ hasMore: false, nextCursor: null })
    }
    const exact = page(await get(`?limit=4&cursor=${page(first).nextCursor}`))
    expect(exact).toMatchObject({ data: { length: 4 }, hasMore: false, nextCursor: null })
  })

  test('filters by chain or alias, protocol, asset and time', async () => {
    expect(timesOf(await get('?chain=base&protocol=aave-v3&asset=USDC'))).toEqual(
      [...moments].reverse(),
    )
    expect(timesOf(await get('?chain=ethereum'))).toEqual([])
    expect(timesOf(await get('?chain=BASE&protocol=Aave-V3&asset=usdc'))).toHaveLength(3)
    const vault = '?chain=base&protocol=erc4626'
    expect(timesOf(await get(`${vault}&from=${moments[1]}`))).toEqual([moments[2], moments[1]])
    expect(timesOf(await get(`${vault}&to=${moments[1]}`))).toEqual([moments[0]])
    expect(timesOf(await get('?chain=base&from=2026-01-01T02:05:00%2B02:00'))).toHaveLength(4)
    expect(timesOf(await get('?from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z'))).toHaveLength(9)
  })

  test.each([
    ['chain', '?chain=solana'],
    ['asset', '?asset=DAI'],
    ['protocol', '?protocol=aave'],
    ['from', '?from=yesterday'],
    ['to', '?to=2026-13-01T00:00:00Z'],
    ['cursor', `?cursor=${'9'.repeat(19)}`],
    ['cursor', '?cursor=1%20or%201'],
    ['limit', '?limit=1000'],
    ['since', '?since=2026-01-01T00:00:00Z'],
  ])('error: INVALID_REQUEST names %s in %s', async (path, query) => {
    const { status, body } = await get(query)
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.issues).toMatchObject([{ path }])
  })
})
