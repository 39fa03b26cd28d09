import { describe, expect, test } from 'vitest'
import { insertTimeSeries } from '../../../dev/sample/timeSeries.js'
import { createDatabase } from '../../support/database.js'
import { insertTestWallet } from '../../db/rows.js'

type Counts = { requests: string; errors: string; credits: string }

describe('insertTimeSeries', () => {
  test('each successful request costs a credit, and failed ones are free', async () => {
    const { db, drop } = await createDatabase()
    const { accountId } = await insertTestWallet(db)

    await insertTimeSeries(db, accountId)

    const rows = await db('request_day').select<Counts[]>('requests', 'errors', 'credits')
    expect(rows.some(({ errors }) => Number(errors) > 0)).toBe(true)
    for (const { requests, errors, credits } of rows) {
      expect(Number(credits)).toBe(Number(requests) - Number(errors))
    }
    await drop()
  })
})
