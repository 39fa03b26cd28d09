import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { intent as intentSchema } from '../../../../api/schemas/intents.js'
import { finalizeIntent } from '../../../../activities/status.js'
import { connect, type Db } from '../../../../db/client/connect.js'
import { insertTestOperation } from '../../../db/rows.js'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import { withoutId, type ApiResponse } from '../../api.js'
import { waitUntilBlocked } from '../../../support/blocked.js'
import type { ChainName } from '../../../../evm/registry.js'

const usdc = 1_000_000n

let world: ChainWorld
let worker: Db

beforeAll(async () => {
  world = await startChainWorld()
  worker = connect(world.database.urlAs('steward_worker'))
})
afterAll(async () => {
  await worker?.destroy()
  await world?.stop()
})

const post = (path: string, request = {}) =>
  world.api.call('POST', path, { key: world.key, ...request })
const retry = (id: string, request = {}) => post(`/v1/intents/${id}/retry`, request)
const balance = async () =>
  Number((await world.api.call('GET', '/dashboard/credits', { key: world.key })).body.balance)
const retriesOf = (id: string) => world.database.db('intent').where({ retry_of: id })
const reasonOf = ({ status, body }: ApiResponse) => [status, body.error, body.details?.reason]

async function newIntent(
  money: Partial<Record<ChainName, bigint>>,
  request: object,
): Promise<ApiResponse['body']> {
  const { id: walletId } = await world.newWallet(money)
  const body = { walletId, action: 'lend', amount: 1, ...request }
  const answer = await post('/v1/intents', { body })
  expect(answer.status).toBe(201)
  return answer.body
}

const chainIds = { 'arbitrum-sepolia': 421_614, 'base-sepolia': 84_532 }
type Done = { sequence?: number; kind: string; chain: keyof typeof chainIds; units?: string }
const inBlock = {
  ...{ tx_hash: `0x${'0'.repeat(64)}`, block_number: 1, block_hash: '0x02', log_index: 0 },
  ...{ gas_used: '1', gas_cost_usd: '0' },
}

/** An operation as the relayer leaves it. Without `units` it has no effect. */
async function operate(id: string, { chain, units, ...step }: Done, state = 'final') {
  const row = await world.database
    .db('intent')
    .where({ id })
    .first<{ account_id: string; wallet_id: string }>()
  const wallet = { id: row.wallet_id, accountId: row.account_id, address: '', requestId: '' }
  const outcome = { ...inBlock, success: units !== undefined, units: units ?? null }
  const where = state === 'signed' ? {} : outcome
  await insertTestOperation(world.database.db, wallet, id, {
    ...{ chain_id: chainIds[chain], state, ...step, ...where },
  })
}

/** The end of an intent as its workflow writes it. Its reservations are released, as after indexing. */
async function fail(id: string, code: string, step = 1): Promise<void> {
  const failure = { code, message: 'x', step }
  await finalizeIntent(worker, { intentId: id, failure })
  const left = world.database.db('reservation').where({ intent_id: id })
  await left.update({ released_at: new Date() })
}

/** A lend of 1 USDC on arbitrum whose deposit was reverted. */
async function failedLend(): Promise<ApiResponse['body']> {
  const intent = await newIntent({ 'arbitrum-sepolia': usdc }, { chain: 'arbitrum' })
  await operate(intent.id, { kind: 'deposit', chain: 'arbitrum-sepolia' })
  await fail(intent.id, 'DEPOSIT_FAILED')
  return intent
}

/** A lend whose money has left arbitrum for base, and has come out there when `minted`. */
async function bridgedLend(minted: string | undefined): Promise<ApiResponse['body']> {
  const intent = await newIntent({ 'arbitrum-sepolia': usdc }, {})
  await operate(intent.id, { kind: 'bridge', chain: 'arbitrum-sepolia', units: '1000000' })
  if (minted) await operate(intent.id, { kind: 'mint', chain: 'base-sepolia', units: minted })
  return intent
}

describe('POST /v1/intents/:intentId/retry', () => {
  test('201: a new intent for the same goal, for 5 credits', async () => {
    const failed = await failedLend()
    const before = await balance()
    world.temporal.started.length = 0
    const { status, body, headers } = await retry(failed.id)
    expect([status, headers.get('x-credits-charged')]).toEqual([201, '5'])
    expect(before - (await balance())).toBe(5)
    expect(intentSchema.parse(body)).toEqual(body)
    const { executionPlan, walletId, action, amount, asset, chain, funds } = failed
    const waitingFor = { code: 'SERVICE', message: expect.any(String), since: body.createdAt }
    expect(body).toEqual({
      ...{ id: expect.stringMatching(/^intent_/), retryOf: failed.id, status: 'planning' },
      ...{ executionPlan, walletId, action, amount, asset, chain, funds, waitingFor },
      ...{ actions: ['cancel'], userId: failed.userId },
      requestId: headers.get('x-request-id'),
      ...{ currentStep: 1, createdAt: expect.any(String), updatedAt: body.createdAt },
    })
    expect(world.temporal.started).toMatchObject([{ options: { workflowId: body.id } }])
  })

  test('GET and the list link the failed intent and its retry; the failed intent is otherwise unchanged', async () => {
    const { id } = await failedLend()
    const read = async (path: string) =>
      (await world.api.call('GET', path, { key: world.key })).body
    const before = await read(`/v1/intents/${id}`)
    const { body } = await retry(id)
    expect(await read(`/v1/intents/${body.id}`)).toEqual(body)
    const list = await read(`/v1/intents?walletId=${String(body.walletId)}`)
    expect(list.data).toMatchObject([{ retryOf: id }, { id }])
    expect(list.data).toMatchObject([{}, { retriedBy: body.id }])
    expect(await read(`/v1/intents/${id}`)).toEqual({
      ...before,
      ...{ retriedBy: body.id, actions: [] },
    })
    for (const field of ['retryOf', 'retriedBy']) expect(before).not.toHaveProperty(field)
  })

  test('repeated: 200 with the current state of the first retry, free of charge, without credits', async () => {
    const { id } = await failedLend()
    const first = await retry(id)
    await world.database.db('intent').where({ id: first.body.id }).update({ status: 'executing' })
    const account = world.database.db('account')
    const credits = await account.clone().first<object>('granted', 'purchased')
    await account.clone().update({ granted: 0, purchased: 0 })
    const again = await retry(id)
    await account.clone().update(credits)
    expect([again.status, again.headers.get('x-credits-charged')]).toEqual([200, '0'])
    expect(again.body).toMatchObject({ id: first.body.id, status: 'executing' })
    expect(await retriesOf(id)).toHaveLength(1)
  })

  test('concurrent retries: one retry, one charge, the same response for all', async () => {
    const { id } = await failedLend()
    const before = await balance()
    const answers = await Promise.all(Array.from({ length: 8 }, () => retry(id)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await retriesOf(id)).toMatchObject([{ id: answers[0]?.body.id }])
    expect(before - (await balance())).toBe(5)
  })

  test('with an Idempotency-Key: the same answer, byte by byte, and no second charge', async () => {
    const { id } = await failedLend()
    const headers = { 'idempotency-key': `retry ${id}` }
    const first = await retry(id, { headers })
    const again = await retry(id, { headers })
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('x-credits-charged')).toBe('0')
  })

  test('accepts an empty object as the body, and nothing else', async () => {
    const { id } = await failedLend()
    expect((await retry(id, { body: { amount: 1 } })).status).toBe(400)
    expect((await retry(id, { body: {} })).status).toBe(201)
  })

  test('a retry that fails is retried itself', async () => {
    const { id } = await failedLend()
    const first = await retry(id)
    expect(reasonOf(await retry(first.body.id))).toEqual([400, 'INVALID_REQUEST', 'not_failed'])
    await fail(first.body.id, 'DEPOSIT_FAILED')
    const second = await retry(first.body.id)
    expect([second.status, second.body.retryOf]).toEqual([201, first.body.id])
    expect((await retry(id)).body.id).toBe(first.body.id)
  })

  test('a cancelled intent may be retried', async () => {
    const { id } = await newIntent({ 'arbitrum-sepolia': usdc }, { chain: 'arbitrum' })
    await post(`/v1/intents/${id}/cancel`)
    expect((await retry(id)).status).toBe(201)
  })

  test('metadata is copied, without a requested failure', async () => {
    const metadata = { simulate: 'DEPOSIT_FAILED', order: 7 }
    const money = { 'arbitrum-sepolia': usdc }
    const { id } = await newIntent(money, { chain: 'arbitrum', metadata })
    await fail(id, 'DEPOSIT_FAILED')
    const { status, body } = await retry(id)
    expect([status, body.metadata]).toEqual([201, { order: 7 }])
  })
})

describe('retry: the remaining work', () => {
  test('a lend whose money has crossed the bridge is a lend of what arrived, where it is', async () => {
    const { id, walletId } = await bridgedLend('999850')
    await operate(id, { sequence: 2, kind: 'deposit', chain: 'base-sepolia' })
    await fail(id, 'DEPOSIT_FAILED', 2)
    const wallet = world.database.db('wallet').where({ id: walletId })
    const { address } = await wallet.first<{ address: string }>()
    await world.chains.mint('base-sepolia', address, 999_850n)
    await world.chains.index(world.database.db)
    const { status, body } = await retry(id)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ...{ action: 'lend', amount: 0.99985, chain: 'base-sepolia', retryOf: id },
      executionPlan: {
        strategy: 'direct-deposit',
        steps: [{ type: 'deposit', chain: 'base-sepolia', amount: '0.99985' }],
      },
    })
  })

  test('a lend whose burn did not happen starts at its source', async () => {
    const { id } = await newIntent({ 'arbitrum-sepolia': usdc }, {})
    await operate(id, { kind: 'bridge', chain: 'arbitrum-sepolia' })
    await fail(id, 'BRIDGE_FAILED')
    const executionPlan = { steps: [{ type: 'bridge' }, { type: 'deposit' }] }
    expect((await retry(id)).body).toMatchObject({ amount: 1, executionPlan })
  })

  test('a withdrawal of everything is retried as such', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 3n * usdc)
    const request = { walletId: wallet.id, action: 'withdraw', amount: 'max', chain: 'base' }
    const { id } = (await post('/v1/intents', { body: request })).body
    await operate(id, { kind: 'withdraw', chain: 'base-sepolia' })
    await fail(id, 'WITHDRAW_FAILED')
    const { body } = await retry(id)
    expect(body.amount).toBeCloseTo(3, 4)
    const row = world.database.db('intent').where({ id: body.id })
    expect(await row.first<object>()).toMatchObject({ action: 'withdraw', everything: true })
  })

  test('error: funds_in_bridge while burned money has not come out, and nothing is charged', async () => {
    const { id } = await bridgedLend(undefined)
    await fail(id, 'BRIDGE_TIMEOUT')
    const before = await balance()
    const refused = await retry(id)
    expect(reasonOf(refused)).toEqual([400, 'INVALID_REQUEST', 'funds_in_bridge'])
    expect(refused.body.details.issues).toMatchObject([{ path: 'intentId' }])
    expect([await balance(), await retriesOf(id)]).toEqual([before, []])
  })

  test('error: nothing_left of a bridge whose money came out too late', async () => {
    const request = { action: 'bridge', fromChain: 'arbitrum', toChain: 'base' }
    const { id } = await newIntent({ 'arbitrum-sepolia': usdc }, request)
    await operate(id, { kind: 'bridge', chain: 'arbitrum-sepolia', units: '1000000' })
    await fail(id, 'BRIDGE_TIMEOUT')
    await operate(id, { kind: 'mint', chain: 'base-sepolia', units: '999900' })
    expect(reasonOf(await retry(id))).toEqual([400, 'INVALID_REQUEST', 'nothing_left'])
  })

  test('error: INSUFFICIENT_FUNDS while the money is not there, and 201 when it is', async () => {
    const { id, walletId } = await failedLend()
    const other = await world.lend(String(walletId), 1, { chain: 'arbitrum' })
    const before = await balance()
    const refused = await retry(id)
    expect([refused.status, refused.body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect([await balance(), await retriesOf(id)]).toEqual([before, []])
    await post(`/v1/intents/${other.body.id}/cancel`)
    expect((await retry(id)).status).toBe(201)
  })
})

describe('retry: what may not be retried', () => {
  test.each([
    ['planning', {}],
    ['executing', { status: 'executing' }],
    ['completed', { status: 'completed', completed_at: new Date() }],
  ])('error: not_failed for an intent that is %s', async (_status, values) => {
    const { id } = await newIntent({ 'arbitrum-sepolia': usdc }, { chain: 'arbitrum' })
    if ('status' in values) await world.database.db('intent').where({ id }).update(values)
    expect(reasonOf(await retry(id))).toEqual([400, 'INVALID_REQUEST', 'not_failed'])
  })

  test.each(['signed', 'mined', 'confirmed'])(
    'error: not_final while a failed operation is %s: a reorg could revert it',
    async (state) => {
      const { id } = await newIntent({ 'arbitrum-sepolia': usdc }, { chain: 'arbitrum' })
      await operate(id, { kind: 'deposit', chain: 'arbitrum-sepolia' }, 'confirmed')
      await fail(id, 'DEPOSIT_FAILED')
      const operation = world.database.db('operation').where({ intent_id: id })
      await operation.clone().update({ state, ...(state === 'signed' && { block_hash: null }) })
      const refused = await retry(id)
      expect(reasonOf(refused)).toEqual([400, 'INVALID_REQUEST', 'not_final'])
      const { retryAfter, until } = refused.body.details as { retryAfter: number; until?: string }
      // Once confirmed, the failure settles at a known time.
      expect([until !== undefined, retryAfter > 30]).toEqual(Array(2).fill(state === 'confirmed'))
      const chain = world.database.db('chain')
      if (until) await chain.clone().update({ failure_hold_seconds: 0 })
      else await operation.update({ state: 'final', ...inBlock, success: false })
      expect((await retry(id)).status).toBe(201)
      await chain.update({ failure_hold_seconds: 300 })
    },
  )

  test('error: not_final when the failure is reopened while it is being retried', async () => {
    const { id } = await failedLend()
    const turning = await world.database.db.transaction()
    await turning('operation')
      .where({ intent_id: id })
      .update({ state: 'signed', block_hash: null })
    const { rows } = await turning.raw<{ rows: { ids: string[] }[] }>(
      'select reconsider_intents(?) as ids',
      [[id]],
    )
    expect(rows).toEqual([{ ids: [id] }])
    const retrying = retry(id)
    await waitUntilBlocked(world.database.db)
    await turning.commit()
    expect(reasonOf(await retrying)).toEqual([400, 'INVALID_REQUEST', 'not_final'])
    expect(await retriesOf(id)).toEqual([])
  })

  test('error: INTENT_NOT_FOUND alike for an unknown intent and one of another account', async () => {
    const { id } = await failedLend()
    await retry(id)
    const stranger = { key: await world.newKey() }
    const [theirs, unknown] = [await retry(id, stranger), await retry('x', stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'INTENT_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })

  test('error: FORBIDDEN for a key that may only read', async () => {
    const { id } = await failedLend()
    await world.database.db('api_key').update({ scopes: ['read'] })
    const { status, body } = await retry(id)
    await world.database.db('api_key').update({ scopes: ['read', 'write'] })
    expect([status, body.error]).toEqual([403, 'FORBIDDEN'])
  })
})
