import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPairFees, setPairFees } from '../../db/bridgeFees.js'
import { createDatabase, type TestDatabase } from '../support/database.js'

const minuteMs = 60_000
const [from, to] = ['arbitrum-sepolia', 'base-sepolia']

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())

describe('readPairFees', () => {
  test('leaves out fees older than an hour, until they are reported again', async () => {
    const { db } = database
    const fees = { protocol: 'cctp', fastMillionths: 100n, standardMillionths: 0n }
    await setPairFees(db, { ...fees, from, to })
    await setPairFees(db, { ...fees, from: to, to: from })
    const age = (minutes: number) =>
      db('bridge_fee')
        .where({ from_chain: from })
        .update({ read_at: new Date(Date.now() - minutes * minuteMs) })
    await age(50)
    expect(await readPairFees(db)).toHaveLength(2)
    await age(70)
    expect(await readPairFees(db)).toMatchObject([{ from: to, to: from }])
    await setPairFees(db, { ...fees, from, to })
    expect(await readPairFees(db)).toHaveLength(2)
  })
})
