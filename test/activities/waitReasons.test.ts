import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findWaitReason } from '../../activities/waitReasons.js'
import { findOperation } from '../../operations/operations.js'
import { pauseWork } from '../../db/pauses.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { WaitReason } from '../../domain/intent/waitReason.js'

let database: TestDatabase
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(() => database?.drop())

/** The wait reason of an operation with the given values. */
async function waitReasonOf(values: Record<string, unknown>): Promise<WaitReason | undefined> {
  const intentId = await insertTestIntent(database.db, wallet, 'executing')
  const id = await insertTestOperation(database.db, wallet, intentId, values)
  const row = await findOperation(database.db, id)
  return row && findWaitReason(database.db, row)
}

const ago = (ms: number) => new Date(Date.now() - ms)
const deferred = {
  ...{ state: 'deferred', code: 'RPC_ERROR', message: 'Every sender is out of gas.' },
  ...{ waits_for: 'SENDER_GAS', retry_after: new Date() },
}

describe('findWaitReason', () => {
  test('returns the reason of the deferral, since the first one', async () => {
    const since = ago(60_000)
    expect(await waitReasonOf({ ...deferred, waits_since: since })).toEqual({
      ...{ code: 'SENDER_GAS', message: 'Every sender is out of gas.', since: since.toISOString() },
    })
  })

  test('returns a freeze before any other reason: operator, reason and time', async () => {
    const target = { scope: 'wallet', subject: wallet.id } as const
    await pauseWork(database.db, target, { by: 'alice', why: 'a key may have leaked' })
    const hold = await waitReasonOf(deferred)
    expect(hold).toMatchObject({ code: 'FROZEN' })
    expect(hold?.message).toMatch(/^alice froze the wallet at \S+Z: a key may have leaked$/)
  })

  test('returns SIGNER without another reason', async () => {
    expect(await waitReasonOf({ state: 'queued' })).toMatchObject({ code: 'SIGNER' })
  })
})
