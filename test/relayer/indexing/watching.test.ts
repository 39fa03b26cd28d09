import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Db } from '../../../db/client/connect.js'
import { findOperation } from '../../../operations/operations.js'
import { pauseWork } from '../../../db/pauses.js'
import { awaitOperation, watchOutcomes, type Outcomes } from '../../../operations/watchOutcomes.js'
import {
  inBlock,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../../db/rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import type { Listener, OnChange } from '../../../db/client/listen.js'

let database: TestDatabase
let db: Db
let wallet: TestWallet
let ending: AbortController

beforeAll(async () => {
  database = await createDatabase()
  db = connect(database.urlAs('steward_worker'), 5)
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await db?.destroy()
  await database?.drop()
})
beforeEach(() => {
  ending = new AbortController()
})
afterEach(() => {
  ending.abort()
})

/** Sends only the test's notifications, like a broken connection. */
function createListener() {
  const subscribers = new Set<OnChange>()
  const listener: Listener = {
    subscribe(onChange) {
      subscribers.add(onChange)
      return () => subscribers.delete(onChange)
    },
  }
  return {
    listener,
    announce: (id: string, state: string) => subscribers.forEach((on) => on({ id, state })),
  }
}

const watch = ({ listener } = createListener()) =>
  watchOutcomes({ db, listener, stopping: ending.signal, lookMs: 10 })

async function order(values: Record<string, unknown> = {}) {
  const intentId = await insertTestIntent(database.db, wallet, 'executing')
  const id = await insertTestOperation(database.db, wallet, intentId, values)
  return { id, intentId }
}
const set = (id: string, values: Record<string, unknown>) =>
  database.db('operation').where({ id }).update(values)
const rejected = { state: 'rejected', code: 'DEPOSIT_FAILED', message: 'refused' }
const attestedAs = (event_nonce: string) => ({ event_nonce, message: '0x', attestation: '0x' })

const awaitOutcome = async (outcomes: Outcomes, id: string) => {
  const row = await findOperation(db, id)
  if (!row) throw new Error('No row.')
  return awaitOperation({ db, outcomes }, row, ending.signal)
}

describe('awaitOperation', () => {
  test('finds the outcome without a notification', async () => {
    const { id } = await order()
    const outcome = awaitOutcome(watch(), id)
    // Some queries that find nothing.
    await sleep(50)
    await set(id, rejected)
    expect(await outcome).toMatchObject({ state: 'rejected' })
  })

  test('finds a pause by an operator, and an attested burn', async () => {
    const outcomes = watch()
    const { id } = await order({ kind: 'bridge' })
    await database.db('burn').insert({ operation_id: id, source_domain: 3, destination_block: 0 })
    const stopped = awaitOutcome(outcomes, id)
    const target = { scope: 'wallet', subject: wallet.id } as const
    await pauseWork(database.db, target, { by: 'alice', why: 'a test' })
    expect(await stopped).toMatchObject({ state: 'queued' })
    const attested = outcomes.nextChange(id, ending.signal, 'attestation')
    await database.db('burn').where({ operation_id: id }).update(attestedAs('0x01'))
    await attested
  })

  test('wakes at once by a notification, except for intermediate states', async () => {
    const { listener, announce } = createListener()
    const outcomes = watch({ listener, announce })
    const { id } = await order()
    let isNotified = false
    const change = outcomes.nextChange(id, ending.signal).then(() => (isNotified = true))
    announce(id, 'signed')
    await set(id, { state: 'mined', ...inBlock })
    await sleep(50)
    expect(isNotified).toBe(false)
    announce(id, 'confirmed')
    await change
  })
})
