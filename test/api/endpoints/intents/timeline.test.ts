import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resumeWork, pauseWork, type PauseTarget } from '../../../../db/pauses.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../../../db/rows.js'
import type { ApiWorld } from '../../api.js'
import { startStoredWorld } from './storedWorld.js'
import type { LifecycleStatus } from '../../../../domain/intent/intent.js'

const chainId = 421_614
const txHash = `0x${'a'.repeat(64)}`
const inBlock = (state: string, success = true) => ({
  ...{ state, success, tx_hash: txHash, block_number: 5, block_hash: '0xblock', log_index: 0 },
  ...{ gas_used: '210000', gas_cost_usd: '0.630000', units: '999999' },
})
const deferred = (code: string, values: object = {}) => ({
  ...{ state: 'deferred', code, message: 'why', retry_after: new Date(Date.now() + 60_000) },
  ...values,
})

let world: ApiWorld
let wallet: TestWallet
let key: string

beforeAll(async () => {
  const stored = await startStoredWorld()
  world = stored.world
  wallet = stored.wallet
  key = stored.key
})
afterAll(() => world.stop())

const get = async (id: string) => (await world.api.call('GET', `/v1/intents/${id}`, { key })).body
const insert = (status: LifecycleStatus, values = {}) =>
  insertTestIntent(world.database.db, wallet, status, values)

/** An intent that is being executed, whose only operation is in some state. */
async function begun(values: object): Promise<{ id: string; operation: string }> {
  const id = await insert('executing')
  return { id, operation: await insertTestOperation(world.database.db, wallet, id, { ...values }) }
}
const stepOf = (body: Record<string, unknown>) =>
  (body.executionPlan as { steps: Record<string, unknown>[] }).steps[0]

describe('wait reason of an intent', () => {
  test.each([
    ['the signer', {}, 'waiting', 'SIGNER'],
    [
      'gas of the senders',
      deferred('RPC_ERROR', { waits_for: 'SENDER_GAS' }),
      'waiting',
      'SENDER_GAS',
    ],
    ['cheaper gas', deferred('RPC_ERROR', { waits_for: 'GAS_PRICE' }), 'waiting', 'GAS_PRICE'],
    ['its node', deferred('RPC_ERROR'), 'waiting', 'CHAIN_SILENT'],
    ['room', deferred('DEPOSIT_FAILED', { waits_for: 'MARKET_ROOM' }), 'waiting', 'MARKET_ROOM'],
    ['confirmations', inBlock('mined'), 'executing', 'CONFIRMATIONS'],
  ])('%s: shown on the step and on the intent', async (_what, values, status, code) => {
    const { id } = await begun(values)
    const body = await get(id)
    const waitingFor = expect.objectContaining({
      ...{ code, message: expect.any(String), since: expect.stringMatching(/Z$/) },
    })
    expect(stepOf(body)).toMatchObject({ status, waitingFor })
    expect(body).toMatchObject({ currentStep: 1, waitingFor })
  })

  test('the usual duration, where the chain has one', async () => {
    const { id } = await begun(inBlock('mined'))
    expect(await get(id)).toMatchObject({ waitingFor: { usualSeconds: 5 } })
    const { id: queued } = await begun({})
    expect((await get(queued)).waitingFor).not.toHaveProperty('usualSeconds')
  })

  test.each([
    ['PAUSED', { scope: 'chain', subject: String(chainId) }],
    ['PAUSED', { scope: 'deployment', subject: '' }],
    ['FROZEN', { scope: 'wallet', subject: 'own' }],
  ] as const)(
    '%s by an operator (%j): shown without the operator and the reason',
    async (code, target) => {
      const { db } = world.database
      const subject = target.subject === 'own' ? wallet.id : target.subject
      const stop: PauseTarget = { ...target, subject }
      const { id } = await begun({})
      await pauseWork(db, stop, { by: 'mallory', why: 'a secret reason' })
      const body = await get(id)
      await resumeWork(db, stop, { by: 'mallory', why: 'over' })
      expect(body.waitingFor).toMatchObject({ code })
      expect(JSON.stringify(body)).not.toMatch(/mallory|secret/)
      expect((await get(id)).waitingFor).toMatchObject({ code: 'SIGNER' })
    },
  )

  test('a pause of another wallet does not delay this one', async () => {
    const { db } = world.database
    const other = await insertTestWallet(db)
    const { id } = await begun({})
    const order = { by: 'op', why: 'test' }
    await pauseWork(db, { scope: 'wallet', subject: other.id }, order)
    expect((await get(id)).waitingFor).toMatchObject({ code: 'SIGNER' })
    await resumeWork(db, { scope: 'wallet', subject: other.id }, order)
  })

  test('a plan: for its chains, or for a seen block that is not indexed', async () => {
    const seen = JSON.stringify([{ chainId, number: '12' }])
    const indexing = await insert('pending', { seen_blocks: seen, chain: 'arbitrum-sepolia' })
    expect(await get(indexing)).toMatchObject({ waitingFor: { code: 'INDEXING' } })
    expect(await get(await insert('pending'))).toMatchObject({
      waitingFor: { code: 'CHAIN_SILENT' },
    })
  })

  test('none after the end', async () => {
    const id = await insert('completed')
    await insertTestOperation(world.database.db, wallet, id, inBlock('confirmed'))
    const body = await get(id)
    for (const field of ['waitingFor', 'currentStep']) expect(body).not.toHaveProperty(field)
    expect(stepOf(body)).toMatchObject({ status: 'completed', txHash })
    expect(stepOf(body)).not.toHaveProperty('waitingFor')
  })
})

describe('times of an intent', () => {
  const { parse } = Date
  const timeOf = (body: Record<string, unknown>, field: string) => parse(String(body[field]))

  test('updatedAt: at each visible change of the intent or a step, and at no other', async () => {
    const { db } = world.database
    const { id, operation } = await begun({})
    const row = db('operation').where({ id: operation })
    const before = await get(id)
    await db('intent').where({ id }).update({ dispatched_at: new Date() })
    await row.clone().update(deferred('RPC_ERROR'))
    await row.clone().update({ state: 'queued' })
    expect((await get(id)).updatedAt).toBe(before.updatedAt)
    await row.clone().update(inBlock('mined'))
    const mined = await get(id)
    expect(timeOf(mined, 'updatedAt')).toBeGreaterThan(timeOf(before, 'updatedAt'))
    await row.clone().update({ state: 'confirmed' })
    const confirmed = await get(id)
    expect(timeOf(confirmed, 'updatedAt')).toBeGreaterThan(timeOf(mined, 'updatedAt'))
    await row.clone().update({ state: 'final' })
    expect((await get(id)).updatedAt).toBe(confirmed.updatedAt)
    await db.raw('select transition_intent(?, ?)', [id, 'completed'])
    const completed = await get(id)
    expect(timeOf(completed, 'updatedAt')).toBeGreaterThan(timeOf(confirmed, 'updatedAt'))
    expect(completed.endedAt).toBe(completed.completedAt)
  })

  test('startedAt and endedAt of a step; the end goes when a reorg takes it back', async () => {
    const { db } = world.database
    const { id, operation } = await begun({})
    const row = db('operation').where({ id: operation })
    expect(stepOf(await get(id))).not.toHaveProperty('endedAt')
    await row.clone().update(inBlock('mined'))
    await row.clone().update({ state: 'confirmed' })
    const step = stepOf(await get(id)) ?? {}
    expect(timeOf(step, 'endedAt')).toBeGreaterThan(timeOf(step, 'startedAt'))
    const gone = { state: 'signed', block_number: null, block_hash: null, log_index: null }
    await row.clone().update(gone)
    const again = stepOf(await get(id))
    for (const field of ['endedAt', 'txHash']) expect(again).not.toHaveProperty(field)
  })

  test('endedAt: of a failed one too, and not while it is reopened', async () => {
    const { db } = world.database
    const id = await insert('executing')
    const error = JSON.stringify({ code: 'DEPOSIT_FAILED', message: 'why', step: 1 })
    await db.raw('select transition_intent(?, ?, ?)', [id, 'failed', error])
    const failed = await get(id)
    expect(failed.endedAt).toBe(failed.updatedAt)
    expect(stepOf(failed)).toMatchObject({ status: 'failed' })
    await db.raw('select transition_intent(?, ?)', [id, 'reopened'])
    expect(await get(id)).not.toHaveProperty('endedAt')
  })

  test('cancelledAt: of a cancelled one only, whose steps are cancelled', async () => {
    const id = await insert('planning')
    const { body } = await world.api.call('POST', `/v1/intents/${id}/cancel`, { key })
    expect(body).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } })
    expect(body.cancelledAt).toEqual(expect.stringMatching(/Z$/))
    expect(body.endedAt).toEqual(body.updatedAt)
    expect(stepOf(body)).toMatchObject({ status: 'cancelled' })
    expect(await get(await insert('failed'))).not.toHaveProperty('cancelledAt')
  })
})

describe('mined operations', () => {
  test('the step, the block and its time; no link where there is no explorer', async () => {
    const { id } = await begun({
      ...inBlock('confirmed'),
      block_time: new Date('2026-11-20T10:00:00Z'),
    })
    const { results } = await get(id)
    expect(results).toMatchObject({
      transactions: [{ step: 1, blockNumber: 5, timestamp: '2026-11-20T10:00:00.000Z', txHash }],
    })
    expect((results as { transactions: object[] }).transactions[0]).not.toHaveProperty(
      'explorerUrl',
    )
  })

  test('funds: where the money is, in any state', async () => {
    const inWallet = [{ chain: 'arbitrum-sepolia', asset: 'USDC', amount: '1' }]
    expect(await get(await insert('planning'))).toMatchObject({ funds: inWallet })
    expect(await get(await insert('pending'))).not.toHaveProperty('funds')
    const { id } = await begun(inBlock('confirmed'))
    expect(await get(id)).toMatchObject({
      funds: [
        { chain: 'arbitrum-sepolia', asset: 'USDC', amount: '0.999999', protocol: 'aave-v3' },
      ],
    })
  })

  test('the list shows the same', async () => {
    const { id } = await begun(inBlock('confirmed'))
    const { body } = await world.api.call('GET', '/v1/intents?limit=1', { key })
    expect(body.data).toEqual([await get(id)])
  })
})
