import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createTeller, findHold } from '../../activities/holds.js'
import { findOperation } from '../../db/lanes/operations.js'
import { stopWork } from '../../db/lanes/stops.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { Client } from '@temporalio/client'
import type { Hold } from '../../domain/hold.js'

let database: TestDatabase
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(() => database?.drop())

/** What holds up an operation of the given values. */
async function holdOf(values: Record<string, unknown>): Promise<Hold | undefined> {
  const intentId = await insertTestIntent(database.db, wallet, 'executing')
  const id = await insertTestOperation(database.db, wallet, intentId, values)
  const row = await findOperation(database.db, id)
  return row && findHold(database.db, row)
}

const ago = (ms: number) => new Date(Date.now() - ms)
const deferred = {
  ...{ state: 'deferred', code: 'RPC_ERROR', message: 'Every lane is out of gas.' },
  ...{ waits_for: 'LANE_GAS', retry_after: new Date() },
}

describe('what holds an operation up', () => {
  test('is what the signer was turned away for, since the first time', async () => {
    const since = ago(60_000)
    expect(await holdOf({ ...deferred, waits_since: since })).toEqual({
      ...{ code: 'LANE_GAS', message: 'Every lane is out of gas.', since: since.toISOString() },
    })
  })

  test('is an operator before anything else: who, why and since when', async () => {
    const target = { scope: 'wallet', subject: wallet.id } as const
    await stopWork(database.db, target, { by: 'alice', why: 'a key may have leaked' })
    const hold = await holdOf(deferred)
    expect(hold).toMatchObject({ code: 'FROZEN' })
    expect(hold?.message).toMatch(
      /^The wallet is frozen since \S+Z by alice: a key may have leaked$/,
    )
  })

  test('is the signer when it has not come for ten seconds, and nothing unusual before', async () => {
    const young = await holdOf({ state: 'queued' })
    expect(young).toMatchObject({ code: 'SIGNER', isUsual: true })
    const old = await holdOf({ state: 'queued', created_at: ago(11_000) })
    expect(old).toMatchObject({ code: 'SIGNER' })
    expect(old).not.toHaveProperty('isUsual')
  })
})

describe('a teller', () => {
  const hold: Hold = { code: 'LANE_GAS', message: 'dry', since: new Date(0).toISOString() }
  const usual: Hold = { ...hold, code: 'MINING', isUsual: true }

  /** What an attempt signals, and what it leaves to the next one. */
  async function attempt(holds: Hold[], heartbeatDetails?: unknown, isAway = false) {
    const signals: unknown[] = []
    const beats: unknown[] = []
    const signal = (_name: string, told: Hold) => {
      if (isAway) return Promise.reject(new Error('away'))
      signals.push(told.code)
      return Promise.resolve()
    }
    const client = {
      withAbortSignal: (_signal: AbortSignal, call: () => Promise<void>) => call(),
      withDeadline: (_deadline: number, call: () => Promise<void>) => call(),
      workflow: { getHandle: () => ({ signal }) },
    } as unknown as Client
    const info = { workflowType: 'executeIntent', heartbeatDetails }
    const logger = new DefaultLogger('ERROR')
    const environment = new MockActivityEnvironment(info, { logger, client })
    environment.on('heartbeat', (details: unknown) => beats.push(details))
    await environment.run(async () => {
      const teller = createTeller()
      for (const one of holds) await teller.tell(one)
    })
    return { signals, left: beats.at(-1) }
  }

  test('tells once what does not change, over all attempts', async () => {
    const first = await attempt([hold, hold])
    expect(first.signals).toEqual(['LANE_GAS'])
    const second = await attempt([hold], first.left)
    expect(second.signals).toEqual([])
  })

  test('tells of the usual only after something else, and of each change', async () => {
    expect((await attempt([usual])).signals).toEqual([])
    const changes = await attempt([hold, usual, { ...hold, code: 'PAUSED' }])
    expect(changes.signals).toEqual(['LANE_GAS', 'MINING', 'PAUSED'])
  })

  test('tells a few changes at once, then more and more rarely', async () => {
    const flapping = Array.from({ length: 40 }, (_, i) => (i % 2 ? usual : hold))
    const { signals } = await attempt(flapping)
    expect(signals.length).toBeLessThanOrEqual(5)
  })

  test('that reaches nobody holds nothing up, and tells it in the next attempt', async () => {
    const lost = await attempt([hold], undefined, true)
    expect(lost).toEqual({ signals: [], left: undefined })
    expect((await attempt([hold], lost.left)).signals).toEqual(['LANE_GAS'])
  })
})
