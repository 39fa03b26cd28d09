import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { runStep, type Tools } from '../../activities/step.js'
import { createRegistry } from '../../chains/registry.js'
import { connect, type Db } from '../../db/connection/connect.js'
import { watchOutcomes } from '../../lanes/watching.js'
import { operationId } from '../../lanes/operationId.js'
import { insertTestIntent, insertTestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { recordStatements } from '../support/sessionStatements.js'
import type { OnChange } from '../../db/connection/listen.js'

let database: TestDatabase
let db: Db

beforeAll(async () => {
  database = await createDatabase()
  db = connect(database.urlAs('steward_worker'), 5)
})
afterAll(async () => {
  await db?.destroy()
  await database?.drop()
})

const inBlock = { block_number: 1, block_hash: '0x', tx_hash: '0x01', log_index: 0, units: '7' }
/** Above the time between two looks at all who wait. */
const LOOKED_MS = 1_500

test('a usual step costs one look at its row, when it is over, however long it was on its way', async () => {
  const wallet = await insertTestWallet(database.db)
  const intentId = await insertTestIntent(database.db, wallet, 'planning')
  const id = operationId(intentId, 1, 'deposit')
  const stop = new AbortController()
  let announce: OnChange = () => undefined
  const listener = {
    subscribe: (onChange: OnChange) => {
      announce = onChange
      return () => undefined
    },
  }
  const stopping = stop.signal
  const outcomes = watchOutcomes({ db, listener, stopping, wakeStep: () => Promise.resolve() })
  const tools = { db, outcomes, stopping, registry: createRegistry('testnet') } as unknown as Tools
  const asked = recordStatements(db)
  const order = {
    ...{ intentId, sequence: 1, kind: 'deposit' as const, chainId: 421_614 },
    ...{ accountId: wallet.accountId, walletId: wallet.id, input: { units: '1000000' } },
  }
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  const step = environment.run(() => runStep(tools, { order, deadlineMs: Infinity }))

  const rows = database.db('operation').where({ id })
  while (!(await rows.clone().first<object | undefined>('id'))) await sleep(20)
  await sleep(LOOKED_MS)
  asked.length = 0
  await rows.clone().update({ state: 'mined', ...inBlock })
  await sleep(LOOKED_MS)
  await rows.clone().update({ state: 'confirmed', success: true })
  announce({ id, state: 'confirmed' })
  expect(await step).toMatchObject({ txHash: '0x01', units: '7' })
  stop.abort()
  // The look at all who wait is one for the whole process.
  expect(asked.filter((name) => name !== 'marks of operations')).toEqual(['latest operations'])
})
