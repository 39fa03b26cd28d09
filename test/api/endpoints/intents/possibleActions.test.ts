import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { pauseWork, resumeWork } from '../../../../db/pauses.js'
import { countRetryable } from '../../../../db/usage/attention.js'
import { newPerson, pagesOf } from '../../dashboard/people.js'
import { insertTestIntent, insertTestOperation, type TestWallet } from '../../../db/rows.js'
import { bridge, deposit, planOf } from '../../../domain/plan/steps.js'
import { startStoredWorld } from './storedWorld.js'
import type { ApiWorld } from '../../api.js'
import type { LifecycleStatus } from '../../../../domain/intent/intent.js'

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

type Operating = Record<string, unknown> & { kind?: string; sequence?: number }

async function insert(
  status: LifecycleStatus,
  operations: Operating[] = [],
  values = {},
): Promise<string> {
  const { db } = world.database
  const id = await insertTestIntent(db, wallet, status, values)
  for (const operation of operations) await insertTestOperation(db, wallet, id, operation)
  return id
}

const inBlock = (state: string, success: boolean, more: Operating = {}) => ({
  ...{ state, success, tx_hash: `0x${'a'.repeat(64)}`, block_number: 5, block_hash: '0xblock' },
  ...{ log_index: 0, gas_used: '1', gas_cost_usd: '0', units: success ? '1000000' : null },
  ...more,
})
const later = { state: 'deferred', code: 'RPC_ERROR', message: 'x', retry_after: new Date() }
const crossing = {
  plan: JSON.stringify(
    planOf(bridge(1, 'arbitrum-sepolia', 'base-sepolia'), deposit(2, 'base-sepolia')),
  ),
}
const burned = inBlock('final', true, { kind: 'bridge' })
const minted = inBlock('final', true, { kind: 'mint' })

const read = async (id: string, as = key) =>
  (await world.api.call('GET', `/v1/intents/${id}`, { key: as })).body
const post = (id: string, action: string) =>
  world.api.call('POST', `/v1/intents/${id}/${action}`, { key })
const listed = async () =>
  (await world.api.call('GET', '/v1/intents?limit=1', { key })).body.data as { actions: string[] }[]

const cases: [string, string[], LifecycleStatus, Operating[], object?][] = [
  ['pending', ['cancel'], 'pending', []],
  ['planned', ['cancel'], 'planning', []],
  ['executing, with no operation', ['cancel'], 'executing', []],
  ['executing, with a queued operation', ['cancel'], 'executing', [{}]],
  ['executing, with a deferred operation', ['cancel'], 'executing', [later]],
  ['executing, with a signed operation', [], 'executing', [{ state: 'signed' }]],
  ['executed, with a log that is not found yet', [], 'executing', [{ spent_since: 1 }]],
  ['in a block', [], 'executing', [inBlock('mined', true)]],
  ['done, and not completed yet', [], 'executing', [inBlock('final', true)]],
  ['in the bridge', [], 'executing', [burned], crossing],
  ['out of the bridge', ['cancel'], 'executing', [burned, minted], crossing],
  ['completed', [], 'completed', [inBlock('final', true)]],
  ['failed before its first operation', ['retry'], 'failed', []],
  ['failed, with a final operation', ['retry'], 'failed', [inBlock('final', false)]],
  ['failed, with an operation that a reorg could revert', [], 'failed', [inBlock('mined', false)]],
  ['failed, with a failure that is not settled', [], 'failed', [inBlock('confirmed', false)]],
  ['failed, with all steps done since', [], 'failed', [inBlock('final', true)]],
  ['failed, with its money in the bridge', [], 'failed', [burned], crossing],
  ['failed, with its money out of the bridge', ['retry'], 'failed', [burned, minted], crossing],
]

describe('actions of an intent', () => {
  test.each(cases)(
    '%s: %j, as the calls themselves answer',
    async (_case, actions, status, done, values) => {
      const id = await insert(status, done, values)
      expect((await read(id)).actions).toEqual(actions)
      expect(await listed()).toMatchObject([{ actions }])
      const called = [await post(id, 'retry'), await post(id, 'cancel')]
      const accepted = ['retry', 'cancel'].filter((_action, i) => called[i]?.body.status)
      expect(accepted).toEqual(actions)
    },
  )

  test('a retried intent has none, and its retry can be cancelled', async () => {
    const id = await insert('failed')
    const { body } = await post(id, 'retry')
    expect(body.actions).toEqual(['cancel'])
    expect((await read(id)).actions).toEqual([])
    const cancelled = await post(body.id, 'cancel')
    expect(cancelled.body.actions).toEqual(['retry'])
  })

  test.each([
    ['wallet', 403],
    ['account', 403],
    ['deployment', 503],
  ] as const)(
    'while the %s is paused or frozen: no retry, but a cancellation',
    async (scope, status) => {
      const { db } = world.database
      const [failed, running] = [await insert('failed'), await insert('planning')]
      const subject = { wallet: wallet.id, account: wallet.accountId, deployment: '' }[scope]
      await pauseWork(db, { scope, subject }, { by: 'test', why: 'test' })
      const actions = [await read(failed), await read(running)].map((body) => body.actions)
      const called = [await post(failed, 'retry'), await post(running, 'cancel')]
      const count = await countRetryable(db, wallet.accountId)
      await resumeWork(db, { scope, subject }, { by: 'test', why: 'test' })
      expect([count, ...actions]).toEqual([0, [], ['cancel']])
      expect(called.map((answer) => answer.status)).toEqual([status, 200])
      expect((await read(failed)).actions).toEqual(['retry'])
    },
  )

  test('a failure that is not settled names the time from which it can be retried', async () => {
    const id = await insert('failed', [inBlock('confirmed', false)])
    const { retryFrom } = await read(id)
    expect((await post(id, 'retry')).body.details.until).toBe(retryFrom)
  })

  test.each(['wallet', 'deployment'] as const)(
    'a failure that is not settled names no time while a pause of the %s would refuse the retry',
    async (scope) => {
      const { db } = world.database
      const id = await insert('failed', [inBlock('confirmed', false)])
      const target = { scope, subject: scope === 'wallet' ? wallet.id : '' }
      await pauseWork(db, target, { by: 'test', why: 'test' })
      const { retryFrom } = await read(id)
      await resumeWork(db, target, { by: 'test', why: 'test' })
      expect([retryFrom, (await read(id)).retryFrom]).toEqual([undefined, expect.any(String)])
    },
  )

  test('a retried failure, and one whose money is in the bridge, name no time', async () => {
    const open = inBlock('confirmed', false, { sequence: 2 })
    const crossed = await insert('failed', [burned, open], crossing)
    const retried = await insert('failed', [inBlock('confirmed', false)])
    await insert('planning', [], { retry_of: retried })
    expect([await read(crossed), await read(retried)].map((body) => body.retryFrom)).toEqual([
      ...[undefined, undefined],
    ])
  })

  test.each(['planning', 'failed'] as const)(
    'a caller that may only read has none: %s',
    async (status) => {
      const id = await insert(status)
      const reading = await createApiKey(world.database.db, wallet.accountId, {
        ...{ name: 'reader', scopes: ['read'] },
      })
      expect((await read(id, reading)).actions).toEqual([])
      const { token } = (await post(id, 'read-token')).body
      expect((await read(id, String(token))).actions).toEqual([])
    },
  )

  test.each([
    ['viewer', []],
    ['developer', ['cancel']],
    ['owner', ['cancel']],
  ] as const)('in the dashboard a %s has %j', async (role, actions) => {
    const id = await insert('planning')
    const { cookie } = await newPerson(world, { role, accountId: wallet.accountId })
    const pages = pagesOf(world)
    expect((await pages('GET', `/intents/${id}`, { cookie })).body.actions).toEqual(actions)
    expect((await pages('GET', '/intents?limit=1', { cookie })).body.data).toMatchObject([
      { actions },
    ])
  })
})

describe('countRetryable', () => {
  const failures = cases.filter(([, , status]) => status === 'failed')

  test.each(failures)('%s: agrees with the actions %j', async (_case, _, status, done, values) => {
    const { db } = world.database
    const before = await countRetryable(db, wallet.accountId)
    const id = await insert(status, done, values)
    const { actions } = await read(id)
    const counted = (await countRetryable(db, wallet.accountId)) - before
    expect(counted).toBe((actions as string[]).filter((action) => action === 'retry').length)
  })
})
