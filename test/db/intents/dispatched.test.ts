import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { lockIntent } from '../../../db/intents/intents.js'
import { setDispatched } from '../../../db/intents/status.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../rows.js'

let database: TestDatabase
/** With the permissions of its process only. */
let api: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_worker'), 4)
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await api?.destroy()
  await database?.drop()
})

const insert = () => insertTestIntent(database.db, wallet, 'planning')

describe('setDispatched', () => {
  const isNoted = async (id: string) => {
    const row = await database
      .db('intent')
      .where({ id })
      .first<{ at: Date | null }>('dispatched_at as at')
    return row.at !== null
  }

  test('records a started workflow, and does not wait for a locked intent', async () => {
    const [held, ...free] = (await Promise.all([1, 2, 3].map(() => insert()))) as [string, string]
    const holder = await database.db.transaction()
    await lockIntent(holder, held)
    const waiting = setDispatched(api, held)
    await Promise.all(free.map((id) => setDispatched(api, id)))
    expect(await Promise.all([...free, held].map(isNoted))).toEqual([true, true, false])
    await holder.rollback()
    await waiting
    expect(await isNoted(held)).toBe(true)
  })

  test('does not wait for the disk: after a crash a workflow may be started again', async () => {
    const mode = await api.transaction(async (trx) => {
      await setDispatched(trx, await insert())
      return trx.raw<{ rows: object[] }>('show synchronous_commit')
    })
    expect(mode.rows).toEqual([{ synchronous_commit: 'off' }])
  })
})
