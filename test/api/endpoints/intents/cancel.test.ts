import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { intent as intentSchema } from '../../../../api/schemas/intents.js'
import { finalizeIntent, planIntent } from '../../../../activities/status.js'
import { connect, type Db } from '../../../../db/client/connect.js'
import { submitOperation, type OperationOrder } from '../../../../operations/submit.js'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import { withoutId } from '../../api.js'

const usdc = 1_000_000n

let world: ChainWorld
let worker: Db
let signer: Db

beforeAll(async () => {
  world = await startChainWorld()
  worker = connect(world.database.urlAs('steward_worker'))
  signer = connect(world.database.urlAs('steward_signer'))
})
afterAll(async () => {
  await Promise.all([worker?.destroy(), signer?.destroy()])
  await world?.stop()
})

const cancel = (id: string, as = world.key, request = {}) =>
  world.api.call('POST', `/v1/intents/${id}/cancel`, { key: as, ...request })
const balance = async () =>
  (await world.api.call('GET', '/dashboard/credits', { key: world.key })).body.balance as number

type CancellableIntent = { id: string; walletId: string; accountId: string }
async function newIntent(): Promise<CancellableIntent> {
  const { id: walletId } = await world.newWallet({ 'arbitrum-sepolia': usdc })
  const { id } = (await world.lend(walletId, 1, { chain: 'arbitrum-sepolia' })).body
  const row = await world.database.db('intent').where({ id }).first<{ account_id: string }>()
  return { id, walletId, accountId: row.account_id }
}

/** What the workflow's first step does. */
function submit({ id: intentId, walletId, accountId }: CancellableIntent) {
  const order: OperationOrder = {
    ...{ intentId, sequence: 1, kind: 'deposit', accountId, walletId, chainId: 421_614 },
  }
  return submitOperation(worker, order)
}
const setOperation = (intentId: string, values: object) =>
  world.database.db('operation').where({ intent_id: intentId }).update(values)
const inBlock = {
  ...{ success: true, tx_hash: '0x01', block_number: 5, block_hash: '0x02', log_index: 0 },
  ...{ gas_used: '1', gas_cost_usd: '0', units: '1000000' },
}

describe('POST /v1/intents/:intentId/cancel', () => {
  test('200: failed with the code CANCELLED, free of charge', async () => {
    const { id } = await newIntent()
    const { status, body, headers } = await cancel(id)
    expect([status, headers.get('x-credits-charged')]).toEqual([200, '0'])
    expect(headers.get('x-credits-remaining')).toBeNull()
    expect(intentSchema.parse(body)).toEqual(body)
    expect(body).toMatchObject({ id, status: 'failed', error: { code: 'CANCELLED' } })
    const read = await world.api.call('GET', `/v1/intents/${id}`, { key: world.key })
    expect(read.body).toEqual(body)
  })

  test('releases the money and refunds the credits, once', async () => {
    const { id, walletId } = await newIntent()
    const before = await balance()
    expect((await world.lend(walletId, 1)).status).toBe(400)
    const answers = await Promise.all([cancel(id), cancel(id), cancel(id)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await balance()).toBe(before + 5)
    expect((await world.lend(walletId, 1)).status).toBe(201)
  })

  test('repeated: 200 with the same response', async () => {
    const { id } = await newIntent()
    const first = await cancel(id)
    expect((await cancel(id)).text).toBe(first.text)
  })

  test('accepts an empty object as the body, and nothing else', async () => {
    const { id } = await newIntent()
    expect((await cancel(id, world.key, { body: { force: true } })).status).toBe(400)
    expect((await cancel(id, world.key, { body: {} })).status).toBe(200)
  })

  test.each([
    ['queued', {}],
    ['deferred', { state: 'deferred', code: 'RPC_ERROR', message: 'x', retry_after: new Date() }],
  ])('an operation that is %s ends with it', async (_state, values) => {
    const intent = await newIntent()
    await submit(intent)
    if ('state' in values) await setOperation(intent.id, values)
    expect((await cancel(intent.id)).status).toBe(200)
    expect(await submit(intent)).toMatchObject({ state: 'cancelled', code: 'CANCELLED' })
  })

  test.each([
    ['signed', { state: 'signed' }],
    ['executed, with a log that is not found yet', { spent_since: 1 }],
    ['mined', { state: 'mined', ...inBlock }],
    ['confirmed', { state: 'confirmed', ...inBlock }],
    ['final and failed', { state: 'final', ...inBlock, success: false }],
  ])('error: already_signed when the operation is %s, and nothing changes', async (_s, values) => {
    const intent = await newIntent()
    await submit(intent)
    await setOperation(intent.id, values)
    const before = await balance()
    const { status, body } = await cancel(intent.id)
    expect([status, body.error, body.details.reason]).toEqual([
      ...[400, 'INVALID_REQUEST', 'already_signed'],
    ])
    const row = world.database.db('intent').where({ id: intent.id }).first<object>()
    expect(await row).toMatchObject({ status: 'executing', cancelled_at: null })
    expect(await balance()).toBe(before)
  })

  test('error: already_over for an intent that has completed or failed by itself', async () => {
    const failed = { status: 'failed', error: { code: 'DEPOSIT_FAILED', message: 'x' } }
    for (const values of [failed, { status: 'completed', completed_at: new Date() }]) {
      const { id } = await newIntent()
      await world.database.db('intent').where({ id }).update(values)
      const { status, body } = await cancel(id)
      expect([status, body.details.reason]).toEqual([400, 'already_over'])
    }
  })

  test('error: INTENT_NOT_FOUND alike for an unknown intent and one of another account', async () => {
    const { id } = await newIntent()
    const stranger = await world.newKey()
    const [theirs, unknown] = [await cancel(id, stranger), await cancel('x', stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'INTENT_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })

  test.each([
    ['completed', { status: 'completed', completed_at: new Date() }],
    ['failed', { status: 'failed', error: { code: 'DEPOSIT_FAILED', message: 'x' } }],
    ['cancelled', undefined],
    ['signed', { state: 'signed' }],
  ])('error: INTENT_NOT_FOUND for one of another account that is %s', async (state, values) => {
    const intent = await newIntent()
    if (state === 'signed') {
      await submit(intent)
      await setOperation(intent.id, values ?? {})
    } else if (values) await world.database.db('intent').where({ id: intent.id }).update(values)
    else await cancel(intent.id)
    const stranger = await world.newKey()
    const [theirs, unknown] = [await cancel(intent.id, stranger), await cancel('x', stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'INTENT_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })

  test('either the cancellation or the signer wins, by order of arrival', async () => {
    for (let i = 0; i < 5; i++) {
      const intent = await newIntent()
      await submit(intent)
      const signing = signer.transaction(async (trx) => {
        const [row] = await trx('operation')
          .where({ intent_id: intent.id, state: 'queued' })
          .forUpdate()
          .select<{ id: string }[]>('id')
        if (row) await trx('operation').where(row).update({ state: 'signed' })
        return row !== undefined
      })
      const [signed, { status }] = await Promise.all([signing, cancel(intent.id)])
      expect(status).toBe(signed ? 400 : 200)
    }
  })

  test('the workflow reads the cancellation from the rows, before its first step and without a plan', async () => {
    const intent = await newIntent()
    await cancel(intent.id)
    expect(await submit(intent)).toBeUndefined()
    const failure = { code: 'CANCELLED', message: 'x', step: 1 }
    expect(await finalizeIntent(worker, { intentId: intent.id, failure })).toEqual({
      status: 'failed',
    })
    const { chains, registry } = world.chains
    const pending = await newIntent()
    await world.database
      .db('intent')
      .where({ id: pending.id })
      .update({
        ...{ status: 'pending', plan: null },
      })
    expect((await cancel(pending.id)).body).not.toHaveProperty('executionPlan')
    const tools = { db: worker, chains, registry }
    await expect(planIntent(tools, { intentId: pending.id })).rejects.toMatchObject({
      ...{ type: 'CANCELLED', nonRetryable: true },
    })
  })
})
