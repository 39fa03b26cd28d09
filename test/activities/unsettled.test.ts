import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { once } from 'node:events'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { runStep, type Tools } from '../../activities/step.js'
import { createRegistry } from '../../evm/registry.js'
import { connect, type Db } from '../../db/client/connect.js'
import { claimSettled, deleteAwaited, markAwaited } from '../../operations/awaited.js'
import { pauseWork } from '../../db/pauses.js'
import { isUnsettled } from '../../domain/intent/waitReason.js'
import { operationId } from '../../operations/operationId.js'
import {
  inBlock,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { Outcomes } from '../../operations/watchOutcomes.js'

const HOUR_MS = 3_600_000
/** In place of 60,000 ms. */
const SLOT_MS = 20

let database: TestDatabase
let db: Db
let wallet: TestWallet

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

async function insert(
  values: Record<string, unknown> = {},
  kind: 'deposit' | 'bridge' = 'deposit',
) {
  const intentId = await insertTestIntent(database.db, wallet, 'executing')
  const id = operationId(intentId, 1, kind)
  await insertTestOperation(database.db, wallet, intentId, { id, kind, ...values })
  return { id, intentId }
}
const set = (id: string, values: object) => database.db('operation').where({ id }).update(values)
const confirmed = { state: 'confirmed', success: true, ...inBlock }
const awaited = (id: string) => database.db('awaited').where({ operation_id: id })

type DepositCall = { deadlineMs?: number; meanwhile?: () => Promise<void>; shown?: 'SENDER_GAS' }

/** Calls a deposit whose slot time ends soon after it waits. `meanwhile` runs first. */
async function deposit(
  intentId: string,
  { deadlineMs = Infinity, meanwhile = () => Promise.resolve(), shown }: DepositCall = {},
) {
  const nextChange: Outcomes['nextChange'] = async (_id, signal) => {
    await meanwhile()
    if (!signal.aborted) await once(signal, 'abort')
  }
  const stopping = new AbortController().signal
  const registry = createRegistry('testnet')
  const waits = { outcomes: { nextChange }, slotMs: SLOT_MS, stopping }
  const tools = { db, registry, ...waits } as unknown as Tools
  const order = {
    ...{ intentId, sequence: 1, kind: 'deposit' as const, chainId: 421_614 },
    ...{ accountId: wallet.accountId, walletId: wallet.id },
  }
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  return environment.run(() => runStep(tools, { order, deadlineMs, shown }))
}

describe('a step that takes longer than its slot', () => {
  test('returns unsettled with its wait reason, and is marked as awaited', async () => {
    const { id, intentId } = await insert()
    const result = await deposit(intentId, { deadlineMs: Date.now() + 2 * HOUR_MS })
    expect(result).toMatchObject({ settled: false, waitsFor: { code: 'SIGNER' } })
    const { againMs = 0 } = isUnsettled(result) ? result : {}
    expect(againMs).toBeGreaterThan(HOUR_MS)
    expect(againMs).toBeLessThanOrEqual(2 * HOUR_MS)
    expect(await awaited(id)).toMatchObject([{ workflow_id: intentId, what: 'outcome' }])
  })

  test('returns at its deadline only while it is unsent, and hourly after it', async () => {
    const signed = await insert({ state: 'signed', tx_id: null })
    const late = { deadlineMs: Date.now() - HOUR_MS }
    expect(await deposit(signed.intentId, late)).toMatchObject({ againMs: HOUR_MS })
    const mined = await insert({ state: 'mined', ...inBlock })
    expect(await deposit(mined.intentId, late)).not.toHaveProperty('againMs')
  })

  test('and settles before it is marked returns its outcome', async () => {
    const { id, intentId } = await insert()
    const meanwhile = async () => {
      await set(id, confirmed)
    }
    expect(await deposit(intentId, { meanwhile })).toMatchObject({ txHash: inBlock.tx_hash })
    expect(await awaited(id)).toEqual([])
  })

  test('and was deferred before is retried by Temporal', async () => {
    const { intentId } = await insert({ code: 'RPC_ERROR', message: 'no answer' })
    await expect(deposit(intentId)).rejects.toMatchObject({ type: 'WAITING', nonRetryable: false })
  })

  test('and is deferred returns when its wait reason differs from the shown one', async () => {
    const values = { state: 'deferred', code: 'RPC_ERROR', message: 'dry', waits_for: 'SENDER_GAS' }
    const created_at = new Date(Date.now() - HOUR_MS)
    const later = { retry_after: new Date(Date.now() + 1_000), created_at }
    const { intentId } = await insert({ ...values, ...later })
    const waitsFor = { code: 'SENDER_GAS', message: 'dry' }
    expect(await deposit(intentId)).toMatchObject({ settled: false, waitsFor, againMs: 60_000 })
    const again = deposit(intentId, { shown: 'SENDER_GAS' })
    await expect(again).rejects.toMatchObject({ type: 'WAITING', message: 'RPC_ERROR: dry' })
  })

  test('returns the operator and the reason of a freeze', async () => {
    const { intentId } = await insert()
    const target = { scope: 'wallet', subject: wallet.id } as const
    await pauseWork(database.db, target, { by: 'alice', why: 'a key may have leaked' })
    const frozen = /^alice froze the wallet at \d{4}-\S+Z: a key may have leaked$/
    const waitsFor = { code: 'FROZEN', message: expect.stringMatching(frozen) }
    expect(await deposit(intentId)).toMatchObject({ settled: false, waitsFor })
  })
})

describe('markAwaited', () => {
  test.each([
    ['queued', {}, true],
    ['signed', { state: 'signed' }, true],
    ['mined', { state: 'mined', ...inBlock }, true],
    ['put off', { state: 'deferred', code: 'X', message: 'x', retry_after: new Date() }, false],
    ['over', confirmed, false],
    ['refused', { state: 'rejected', code: 'X', message: 'x' }, false],
  ])('of an operation that is %s', async (_what, values, isMarked) => {
    const { id } = await insert(values)
    expect(await markAwaited(db, id, 'outcome')).toBe(isMarked)
    expect(await awaited(id)).toHaveLength(isMarked ? 1 : 0)
  })

  test('waits for a concurrent commit that settles the operation, and marks nothing then', async () => {
    const { id } = await insert()
    const settling = await database.db.transaction()
    await settling('operation').where({ id }).update(confirmed)
    const marking = markAwaited(db, id, 'outcome')
    await settling.commit()
    expect(await marking).toBe(false)
  })

  test('marks a burn until it is attested', async () => {
    const { id } = await insert(confirmed, 'bridge')
    await database.db('burn').insert({ operation_id: id, source_domain: 3, destination_block: 0 })
    expect(await markAwaited(db, id, 'attestation')).toBe(true)
    expect(await claimSettled(db, [id], 10)).toEqual([])
    const attested = { event_nonce: id, message: '0x', attestation: '0x' }
    await database.db('burn').where({ operation_id: id }).update(attested)
    expect(await markAwaited(db, id, 'attestation')).toBe(false)
    expect(await claimSettled(db, [id], 10)).toMatchObject([{ operationId: id }])
  })
})

describe('claimSettled', () => {
  const ids = (found: { operationId: string }[]) => found.map(({ operationId: id }) => id)
  const settled = async () => {
    const { id } = await insert()
    await markAwaited(db, id, 'outcome')
    await set(id, confirmed)
    return id
  }

  test('returns awaited settled operations only, once in five seconds', async () => {
    const id = await settled()
    const open = await insert()
    await markAwaited(db, open.id, 'outcome')
    const { id: unmarked } = await insert(confirmed)
    const all = [id, open.id, unmarked]
    expect(ids(await claimSettled(db, all, 10))).toEqual([id])
    expect(await claimSettled(db, all, 10)).toEqual([])
    await awaited(id).update({ notify_at: new Date() })
    expect(ids(await claimSettled(db, null, 100))).toContain(id)
  })

  test('doubles its lease each time', async () => {
    const id = await settled()
    const pauses: number[] = []
    for (let i = 0; i < 4; i++) {
      await claimSettled(db, [id], 10)
      const [row] = await awaited(id).select<{ notify_at: Date }[]>('notify_at')
      pauses.push(Math.round((Number(row?.notify_at) - Date.now()) / 1_000))
      await awaited(id).update({ notify_at: new Date(0) })
    }
    expect(pauses).toEqual([5, 10, 20, 40])
  })

  test('returns at most the limit, and none that another worker has claimed', async () => {
    const all = await Promise.all([1, 2, 3].map(settled))
    const [first, second] = await Promise.all([claimSettled(db, all, 2), claimSettled(db, all, 2)])
    expect([...ids(first ?? []), ...ids(second ?? [])].sort()).toEqual([...all].sort())
  })

  test('keeps a mark that was renewed since its claim', async () => {
    const id = await settled()
    const claimed = await claimSettled(db, [id], 10)
    await set(id, { state: 'queued', success: null, ...outOfBlock })
    await markAwaited(db, id, 'outcome')
    await deleteAwaited(db, claimed)
    expect(await awaited(id)).toHaveLength(1)
    await set(id, confirmed)
    await deleteAwaited(db, await claimSettled(db, [id], 10))
    expect(await awaited(id)).toEqual([])
  })
})

const outOfBlock = { block_number: null, block_hash: null, tx_hash: null, log_index: null }
