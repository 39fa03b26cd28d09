import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { yieldPoint } from '../../../../api/schemas/activity.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { newPerson, pagesOf } from '../people.js'

let world: ApiWorld
let cookie: string

beforeAll(async () => {
  world = await startWorld()
  cookie = (await newPerson(world, { role: 'viewer' })).cookie
})
beforeEach(() => world.database.db('yield_snapshot').delete())
afterAll(() => world.stop())

const HOUR_MS = 3_600_000
const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS

/** A reading of a market, so many minutes before the hour that runs. */
const reading = (minutesAgo: number, apy: string, market = '0x1') => ({
  ...{ chain: 'base-sepolia', protocol: `aave ${market}`, asset: 'USDC', market },
  ...{ apy_percent: apy, taken_at: new Date(start - minutesAgo * 60_000) },
})

async function readWeek(...readings: ReturnType<typeof reading>[]) {
  await world.database.db('yield_snapshot').insert(readings)
  return readTrend('7d')
}

async function readTrend(range: string) {
  const { body } = await pagesOf(world)('GET', `/yields/trend?range=${range}`, { cookie })
  const data = body.data as { at: string; apy: number; protocol: string }[]
  for (const point of data) expect(yieldPoint.parse(point)).toEqual(point)
  return data.map(({ at, apy }) => [(start - Date.parse(at)) / 60_000, apy])
}

describe('GET /yields/trend', () => {
  test('is the mean of each hour, oldest first; an hour without a reading is absent', async () => {
    const old = [reading(48 * 60, '4.1'), reading(48 * 60 - 30, '4.3')]
    expect(await readWeek(reading(120, '5'), ...old)).toEqual([
      [48 * 60, 4.2],
      [120, 5],
    ])
  })

  test('of a young deployment each reading is a point', async () => {
    expect(await readWeek(reading(60, '4'), reading(55, '4.5'), reading(50, '5'))).toEqual([
      [60, 4],
      [55, 4.5],
      [50, 5],
    ])
  })

  test('has each market, and nothing that is older than a week', async () => {
    const minutes = 8 * 24 * 60
    const rows = [reading(minutes, '9'), reading(60, '4'), reading(60, '5', '0x2')]
    expect(await readWeek(...rows)).toEqual([
      [60, 4],
      [60, 5],
    ])
  })

  test('of a day has each reading, and of a month the mean of six hours', async () => {
    const sixHours = 6 * HOUR_MS
    const bin = Math.floor((Date.now() - 20 * 24 * HOUR_MS) / sixHours) * sixHours
    const old = { ...reading(0, '6'), taken_at: new Date(bin) }
    const later = { ...reading(0, '8'), taken_at: new Date(bin + 5 * HOUR_MS) }
    await readWeek(reading(60, '4'), reading(55, '4.5'), old, later)
    expect(await readTrend('24h')).toEqual([
      [60, 4],
      [55, 4.5],
    ])
    const [first, ...others] = await readTrend('30d')
    expect(first).toEqual([(start - bin) / 60_000, 7])
    expect(others.flatMap(([, apy]) => apy)).toContain(4.25)
  })

  test('error: UNAUTHORIZED without a session', async () => {
    expect((await pagesOf(world)('GET', '/yields/trend')).status).toBe(401)
  })
})
