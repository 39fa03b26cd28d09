import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../activities/status.js'
import { grantCredits } from '../../db/accounts/accounts.js'
import { connect, type Db } from '../../db/client/connect.js'
import { newId } from '../../db/client/ids.js'
import { cancelIntent, lockIntent } from '../../db/intents/intents.js'
import { charge, readCredits } from '../../db/usage/metering.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { waitUntilBlocked } from '../support/blocked.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { LifecycleStatus } from '../../domain/intent/intent.js'

const PRICE = 5

let database: TestDatabase
/** Each connection has the role of its process. */
let worker: Db
let signer: Db
let api: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 8)
  signer = connect(database.urlAs('steward_signer'), 8)
  api = connect(database.urlAs('steward_api'), 8)
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await Promise.all([worker?.destroy(), signer?.destroy(), api?.destroy()])
  await database?.drop()
})

type OperationValues = Record<string, unknown>

/** A charged intent with an operation in the given state. */
async function paidIntent(
  operation?: OperationValues,
  status: LifecycleStatus = 'executing',
): Promise<string> {
  const requestId = newId('req_')
  const { accountId } = wallet
  await charge(api, { accountId, requestId, cost: PRICE, route: 'POST /intents' })
  const id = await insertTestIntent(database.db, wallet, status, { request_id: requestId })
  if (operation) await insertTestOperation(database.db, wallet, id, operation)
  return id
}

const fail = (intentId: string, code: string) =>
  finalizeIntent(worker, { intentId, failure: { code, message: 'test', step: 1 } })
const used = async () => (await readCredits(api, wallet.accountId)).totalUsed
const refunds = () =>
  database.db('ledger').where({ account_id: wallet.accountId, reason: 'refund' }).select('delta')

const queued = { state: 'queued' }
const deferred = {
  ...{ state: 'deferred', code: 'RPC_ERROR', message: 'no answer', retry_after: new Date() },
}
const rejected = { state: 'rejected', code: 'DEPOSIT_FAILED', message: 'refused' }
const signed = { state: 'signed' }
const inBlock = {
  ...{ tx_hash: '0x01', block_number: 5, block_hash: '0x02', log_index: 0 },
  ...{ gas_used: '1', gas_cost_usd: '0', success: false },
}

describe('finalizeIntent of an intent without a signature', () => {
  test.each([
    ['NETWORK_ERROR', queued],
    ['RPC_ERROR', deferred],
    ['RPC_ERROR', undefined],
    ['INTERNAL', deferred],
    ['CANCELLED', undefined],
    ['INSUFFICIENT_FUNDS', undefined],
    ['INVALID_REQUEST', undefined],
  ])('%s: refunds its credits exactly once', async (code, operation) => {
    const id = await paidIntent(operation)
    expect(await used()).toBe(PRICE)
    expect(await fail(id, code)).toEqual({ status: 'failed' })
    expect(await used()).toBe(0)
    await Promise.all([fail(id, code), fail(id, code)])
    expect(await refunds()).toEqual([{ delta: 5n }])
  })

  test('refunds a pending intent that cannot be planned', async () => {
    const id = await paidIntent(undefined, 'pending')
    await fail(id, 'RPC_ERROR')
    expect(await used()).toBe(0)
  })

  test('does not refund a failure on the chain', async () => {
    await fail(await paidIntent(rejected), 'DEPOSIT_FAILED')
    expect([await used(), await refunds()]).toEqual([PRICE, []])
  })

  test('refunds granted and purchased credits separately', async () => {
    await grantCredits(database.db, wallet.accountId, { credits: 100 })
    await charge(api, {
      ...{ accountId: wallet.accountId, requestId: newId('req_'), cost: 9_997, route: 'test' },
    })
    const buckets = () =>
      database.db('account').where({ id: wallet.accountId }).first<object>('granted', 'purchased')
    const id = await paidIntent(queued)
    expect(await buckets()).toEqual({ granted: 0n, purchased: 98n })
    await fail(id, 'NETWORK_ERROR')
    expect(await buckets()).toEqual({ granted: 3n, purchased: 100n })
  })

  test('a retry after a crash before the refund refunds', async () => {
    const id = await paidIntent({ state: 'cancelled', code: 'RPC_ERROR' }, 'failed')
    await database
      .db('intent')
      .where({ id })
      .update({ error: { code: 'RPC_ERROR', message: 'x' } })
    expect(await fail(id, 'RPC_ERROR')).toEqual({ status: 'failed' })
    expect(await used()).toBe(0)
  })
})

describe('finalizeIntent of an intent with a signature', () => {
  test.each([
    ['signed', signed],
    ['mined', { state: 'mined', ...inBlock }],
  ])('leaves it executing, regardless of the reported failure (%s)', async (_state, operation) => {
    const id = await paidIntent(operation)
    for (const code of ['DEPOSIT_FAILED', 'NETWORK_ERROR']) {
      expect(await fail(id, code)).toEqual({ status: 'executing' })
    }
    expect(await finalizeIntent(worker, { intentId: id })).toEqual({ status: 'executing' })
    expect([await used(), await refunds()]).toEqual([PRICE, []])
  })

  test.each([
    ['confirmed', { state: 'confirmed', ...inBlock }],
    ['final', { state: 'final', ...inBlock }],
  ])('does not refund it, regardless of the code (%s)', async (_state, operation) => {
    const id = await paidIntent(operation)
    for (const code of ['DEPOSIT_FAILED', 'NETWORK_ERROR']) {
      expect(await fail(id, code)).toEqual({ status: 'failed' })
    }
    expect([await used(), await refunds()]).toEqual([PRICE, []])
    const other = await paidIntent(operation)
    await fail(other, 'RPC_ERROR')
    expect([await used(), await refunds()]).toEqual([2 * PRICE, []])
  })

  test('does not refund it when the signature is stored meanwhile', async () => {
    for (let i = 0; i < 10; i++) {
      const id = await paidIntent(queued)
      const before = await used()
      const signing = signer.transaction(async (trx) => {
        const [row] = await trx('operation')
          .where({ intent_id: id, state: 'queued' })
          .forUpdate()
          .select<{ id: string }[]>('id')
        if (row) await trx('operation').where(row).update(signed)
        return row !== undefined
      })
      const [wasSigned] = await Promise.all([signing, fail(id, 'RPC_ERROR')])
      expect(before - (await used())).toBe(wasSigned ? 0 : PRICE)
    }
  })

  test('does not refund it when it completed', async () => {
    const id = await paidIntent({ state: 'confirmed', ...inBlock, success: true })
    await database.db('chain').insert({
      ...{ id: 421_614, name: 'arbitrum-sepolia', indexed_block: 9, indexed_hash: '0x' },
      finalized_block: 1,
    })
    expect(await finalizeIntent(worker, { intentId: id })).toEqual({ status: 'completed' })
    expect([await used(), await refunds()]).toEqual([PRICE, []])
  })
})

describe('finalizeIntent of an intent whose steps are all done', () => {
  const done = { state: 'confirmed', ...inBlock, success: true }
  const ends = (intentId: string) =>
    database
      .db('intent_event')
      .where({ intent_id: intentId, type: 'completed' })
      .select<object[]>('type')

  test('completes it exactly once', async () => {
    const id = await paidIntent(done)
    for (let i = 0; i < 2; i++) {
      expect(await finalizeIntent(worker, { intentId: id })).toEqual({ status: 'completed' })
    }
    expect(await ends(id)).toHaveLength(1)
  })

  test('completes it, regardless of the reported failure', async () => {
    const id = await paidIntent(done)
    const failure = { code: 'INTERNAL', message: 'test' }
    expect(await finalizeIntent(worker, { intentId: id, failure })).toEqual({ status: 'completed' })
  })

  test.each([
    ['a step of its plan is not done', { ...done, sequence: 2 }],
    ['its step was done by another kind', { ...done, kind: 'withdraw' }],
    ['its block is not confirmed', { ...done, state: 'mined' }],
    ['its call failed', { ...done, success: false }],
  ])('does not complete it while %s', async (_what, operation) => {
    const id = await paidIntent(operation)
    expect((await finalizeIntent(worker, { intentId: id })).status).not.toBe('completed')
    expect(await ends(id)).toEqual([])
  })

  test('returns failed when it has failed before', async () => {
    const id = await paidIntent(done, 'failed')
    expect(await finalizeIntent(worker, { intentId: id })).toEqual({ status: 'failed' })
  })

  test('decides by the rows after concurrent changes', async () => {
    const id = await paidIntent(done)
    const holder = await database.db.transaction()
    await lockIntent(holder, id)
    const ended = finalizeIntent(worker, { intentId: id })
    await waitUntilBlocked(database.db)
    const gone = { block_number: null, block_hash: null, log_index: null, tx_hash: null }
    await holder('operation')
      .where({ intent_id: id })
      .update({ state: 'signed', ...gone })
    await holder.commit()
    expect(await ended).toEqual({ status: 'executing' })
    expect(await ends(id)).toEqual([])
  })
})

test('concurrent cancels, finalizations and charges: no deadlock, and one refund each', async () => {
  const { accountId } = wallet
  const ids = await Promise.all(Array.from({ length: 20 }, () => paidIntent(queued)))
  const cancel = (id: string) => api.transaction((trx) => cancelIntent(trx, accountId, id))
  const pay = () => charge(api, { accountId, requestId: newId('req_'), cost: 1, route: 'test' })
  const results = await Promise.allSettled(
    ids.flatMap((id) => [fail(id, 'RPC_ERROR'), cancel(id), pay(), fail(id, 'RPC_ERROR')]),
  )
  const reasons = results.flatMap((r) => (r.status === 'rejected' ? [r.reason as unknown] : []))
  expect(reasons).toEqual([])
  expect(await refunds()).toHaveLength(20)
  expect(await used()).toBe(20)
})
