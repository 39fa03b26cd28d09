import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../db/connection/connect.js'
import { intentColumns, type Intent } from '../../db/intents/intents.js'
import { createLog } from '../../log.js'
import { createStarts } from '../../temporal/starts.js'
import { insertTestIntent, insertTestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { Client } from '@temporalio/client'

let database: TestDatabase
/** With the rights of the API only. Whoever waits for a row has a session. */
let api: Db

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 12)
})
afterAll(async () => {
  await api?.destroy()
  await database?.drop()
})

/** Takes every start, and has no workflows. */
function createTemporal() {
  const started: string[] = []
  const start = (_type: string, { workflowId }: { workflowId: string }) => {
    started.push(workflowId)
    return Promise.resolve()
  }
  const withDeadline = (_at: number, call: () => Promise<unknown>) => call()
  return { started, client: { withDeadline, workflow: { start } } as unknown as Client }
}

describe('createStarts', () => {
  test('begins the next before what was started is written down, and settles when all is', async () => {
    const wallet = await insertTestWallet(database.db)
    const ids: string[] = []
    for (let i = 0; i < 9; i++) ids.push(await insertTestIntent(database.db, wallet, 'planning'))
    const rows = () => database.db('intent').whereIn('id', ids).orderBy('id')
    const intents = await rows().select<Intent[]>(intentColumns)
    const { started, client } = createTemporal()
    const log = createLog('api', 'fatal', new Writable({ write: (_chunk, _as, done) => done() }))
    const starts = createStarts({ temporal: client, db: api, log })
    const holder = await database.db.transaction()
    await holder('intent').whereIn('id', ids.slice(0, 8)).forUpdate().select('id')
    for (const intent of intents) starts.intent({ intent, tier: 'free', userId: 'user' })
    let isSettled = false
    const settled = starts.settled().then(() => (isSettled = true))
    const marked = () => rows().whereNotNull('dispatched_at').pluck<string[]>('id')
    while ((await marked()).length === 0) await sleep(20)
    expect(await marked()).toEqual(ids.slice(8))
    expect(started).toEqual(ids)
    expect(isSettled).toBe(false)
    await holder.rollback()
    await settled
    expect(await marked()).toEqual(ids)
  })
})
