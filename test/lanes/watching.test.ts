import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Db } from '../../db/connection/connect.js'
import { findOperation, type Operation } from '../../db/lanes/operations.js'
import { stopWork } from '../../db/lanes/stops.js'
import { awaitOperation } from '../../lanes/operations.js'
import { watchOutcomes, type Outcomes, type ParkedStep } from '../../lanes/watching.js'
import {
  inBlock,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { recordStatements } from '../support/sessionStatements.js'
import type { Listener, OnChange } from '../../db/connection/listen.js'

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

/** Announces nothing but what the test says: what an activity hears when its connection is lost. */
function createListener() {
  const told = new Set<OnChange>()
  const listener: Listener = {
    subscribe(onChange) {
      told.add(onChange)
      return () => told.delete(onChange)
    },
  }
  return {
    listener,
    announce: (id: string, state: string) => told.forEach((on) => on({ id, state })),
  }
}

const watch = (wakeStep = createWoken().wakeStep, { listener } = createListener()) =>
  watchOutcomes({ db, listener, stopping: ending.signal, wakeStep })

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

/** Steps that were woken, in turn. */
function createWoken(fails = 0) {
  const steps: ParkedStep[] = []
  let left = fails
  const wakeStep = (step: ParkedStep) => {
    steps.push(step)
    return left-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve()
  }
  const until = async (count: number) => {
    while (steps.length < count) await sleep(20)
  }
  return { steps, wakeStep, until }
}

describe('whoever waits for an operation', () => {
  test('hears of its outcome though nothing is announced', async () => {
    const { id } = await order()
    const outcome = awaitOutcome(watch(), id)
    await sleep(1_500)
    await set(id, rejected)
    expect(await outcome).toMatchObject({ state: 'rejected' })
  })

  test('reads with all who are told at the same moment', async () => {
    const outcomes = { nextChange: () => Promise.resolve() }
    const rows = await Promise.all(Array.from({ length: 20 }, () => order({ state: 'rejected' })))
    const sent = recordStatements(db)
    const results = await Promise.all(
      rows.map(({ id }) =>
        awaitOperation({ db, outcomes }, { id, state: 'queued' } as Operation, ending.signal),
      ),
    )
    expect(results.map(({ id, state }) => ({ id, state }))).toEqual(
      rows.map(({ id }) => ({ id, state: 'rejected' })),
    )
    expect(sent.length).toBeLessThanOrEqual(3)
  })

  test('hears of a stop by an operator, of a reason to wait, and of a burn that is attested', async () => {
    const outcomes = watch()
    const { id } = await order({ kind: 'bridge' })
    await database.db('burn').insert({ operation_id: id, source_domain: 3, destination_block: 0 })
    const changes = [
      () => set(id, { waits_for: 'LANE_GAS' }),
      () =>
        stopWork(
          database.db,
          { scope: 'wallet', subject: wallet.id },
          { by: 'alice', why: 'a test' },
        ),
      () => database.db('burn').where({ operation_id: id }).update(attestedAs('0x01')),
    ]
    for (const change of changes) {
      const told = outcomes.nextChange(id, ending.signal)
      await change()
      await told
    }
  })

  test('hears of no state of the usual course unless he asks for it', async () => {
    const outcomes = watch()
    const { id } = await order()
    const told: string[] = []
    const hear = (name: string, change: Promise<void>) => change.then(() => told.push(name))
    const outcome = hear('of its outcome', outcomes.nextChange(id, ending.signal))
    void hear('of each', outcomes.nextChange(id, ending.signal, 'queued'))
    await sleep(2_500)
    expect(told).toEqual([])
    await set(id, { state: 'mined', ...inBlock })
    while (told.length === 0) await sleep(20)
    await sleep(1_500)
    expect(told).toEqual(['of each'])
    await set(id, { state: 'confirmed', success: true })
    await outcome
  })

  test('costs no statement of his own: all share one at a time', async () => {
    const outcomes = watch()
    const ids = await Promise.all(Array.from({ length: 40 }, async () => (await order()).id))
    const waiting = ids.map((id) => awaitOutcome(outcomes, id))
    // Each has read its row, and once more after the first look.
    await sleep(3_000)
    const taken = jest.spyOn(db.client as { acquireConnection(): unknown }, 'acquireConnection')
    await sleep(3_000)
    const statements = taken.mock.calls.length
    taken.mockRestore()
    ending.abort()
    await Promise.all(waiting)
    expect(statements).toBeGreaterThanOrEqual(1)
    expect(statements).toBeLessThan(ids.length / 4)
  })
})

describe('a parked step', () => {
  test('is woken when its row changes, once, and not before', async () => {
    const { wakeStep, steps, until } = createWoken()
    const outcomes = watch(wakeStep)
    const { id, intentId } = await order()
    await outcomes.park(id, { workflowId: intentId, activity: 'deposit' })
    await sleep(2_500)
    expect(steps).toEqual([])
    await set(id, rejected)
    await until(1)
    await sleep(2_500)
    expect(steps).toEqual([{ workflowId: intentId, activity: 'deposit' }])
  })

  test('is woken at once by an announcement', async () => {
    const { wakeStep, until } = createWoken()
    const { listener, announce } = createListener()
    const outcomes = watch(wakeStep, { listener, announce })
    const { id, intentId } = await order()
    await outcomes.park(id, { workflowId: intentId, activity: 'deposit' })
    await sleep(2_000)
    announce(id, 'confirmed')
    await until(1)
  })

  test('that changes while its attempt ends is woken after that', async () => {
    const { wakeStep, until } = createWoken()
    const { listener, announce } = createListener()
    const outcomes = watch(wakeStep, { listener, announce })
    const { id, intentId } = await order()
    await outcomes.park(id, { workflowId: intentId, activity: 'deposit' })
    announce(id, 'confirmed')
    await until(1)
  })

  test('is woken again until Temporal has heard of it', async () => {
    const { wakeStep, until } = createWoken(2)
    const outcomes = watch(wakeStep)
    const { id, intentId } = await order()
    await outcomes.park(id, { workflowId: intentId, activity: 'deposit' })
    await set(id, rejected)
    await until(3)
  })

  test('is not woken while an attempt runs', async () => {
    const { wakeStep, steps } = createWoken()
    const outcomes = watch(wakeStep)
    const { id, intentId } = await order()
    await outcomes.park(id, { workflowId: intentId, activity: 'deposit' })
    const outcome = awaitOutcome(outcomes, id)
    await set(id, rejected)
    await outcome
    await sleep(2_500)
    expect(steps).toEqual([])
  })
})
