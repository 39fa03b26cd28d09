import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { attentionAnswer } from '../../../../api/schemas/activity.js'
import { createAccount, createApiKey } from '../../../../db/accounts/accounts.js'
import { newId } from '../../../../db/client/ids.js'
import { pauseWork } from '../../../../db/pauses.js'
import { silentChains } from '../../../planning/chains.js'
import {
  inBlock,
  insertTestIntent,
  insertTestOperation,
  type TestWallet,
} from '../../../db/rows.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { newPerson, pagesOf, type Person } from '../people.js'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const nodes = silentChains()
let world: ApiWorld
let mine: Person
let wallet: TestWallet

beforeAll(async () => {
  world = await startWorld(nodes)
})
afterAll(() => world.stop())
beforeEach(async () => {
  mine = await newPerson(world, { role: 'viewer' })
  wallet = await newWallet(mine)
})

const db = () => world.database.db

async function newWallet({ accountId }: Pick<Person, 'accountId'>): Promise<TestWallet> {
  const id = newId('svc_wallet_')
  const row = { id, account_id: accountId, user_id: 'alice', address: id, metadata: '{}' }
  await db()('wallet').insert(row)
  return { id, accountId, address: id, requestId: 'req_test' }
}

async function attention({ cookie } = mine) {
  const { body } = await pagesOf(world)('GET', '/attention', { cookie })
  return attentionAnswer.parse(body).data
}

const order = { by: 'alice', why: 'a test' }
const failed = (values = {}) => insertTestIntent(db(), wallet, 'failed', values)

describe('GET /attention', () => {
  test('is empty for an account without trouble', async () => {
    await insertTestIntent(db(), wallet, 'completed')
    await insertTestIntent(db(), wallet, 'executing')
    await createApiKey(db(), mine.accountId, { name: 'backend' })
    expect(await attention()).toEqual([])
  })

  test('counts failed intents that can be retried, and no others', async () => {
    await failed()
    // Cancelled, and retried.
    await failed({ cancelled_at: new Date() })
    const retryOf = await failed()
    await insertTestIntent(db(), wallet, 'executing', { retry_of: retryOf })
    // A reorg may still revert the failure.
    const [chain] = nodes.registry.chains
    const chain_id = chain?.chainId
    const row = {
      id: chain_id,
      name: 'x',
      indexed_block: 1,
      indexed_hash: '0x',
      finalized_block: 0,
    }
    await db()('chain').insert(row).onConflict().ignore()
    const ended = { ...inBlock, chain_id, gas_used: '1', gas_cost_usd: '0', units: '1000000' }
    await insertTestOperation(db(), wallet, await failed(), {
      ...{ ...ended, state: 'confirmed', success: false },
    })
    // The money is in the bridge.
    await insertTestOperation(db(), wallet, await failed(), {
      ...{ ...ended, kind: 'bridge', state: 'final', success: true },
    })
    // All steps have succeeded since.
    await insertTestOperation(db(), wallet, await failed(), {
      ...{ ...ended, state: 'final', success: true },
    })
    expect(await attention()).toEqual([{ kind: 'failed', count: 1 }])
    expect(await attention(await newPerson(world))).toEqual([])
  })

  test('counts no failed intent of a frozen wallet', async () => {
    await failed()
    await pauseWork(db(), { scope: 'wallet', subject: wallet.id }, order)
    expect(await attention()).toMatchObject([{ kind: 'paused', subject: wallet.id }])
  })

  test('forgets failures after a week', async () => {
    const id = `intent_${'0'.repeat(26)}`
    await failed({ id, created_at: new Date(Date.now() - 8 * DAY_MS) })
    expect(await attention()).toEqual([])
  })

  test('counts open intents after ten minutes, with their wait reasons', async () => {
    const created = (minutes: number) => ({
      created_at: new Date(Date.now() - minutes * MINUTE_MS),
    })
    await insertTestIntent(db(), wallet, 'executing', created(9))
    await insertTestIntent(db(), wallet, 'pending', created(11))
    const id = await insertTestIntent(db(), wallet, 'executing', created(12))
    const chain = nodes.registry.chains[0]
    const row = { name: chain?.name, indexed_block: 1, indexed_hash: '0x', finalized_block: 0 }
    await db()('chain')
      .insert({ id: chain?.chainId, ...row })
      .onConflict()
      .ignore()
    await insertTestOperation(db(), wallet, id, {
      ...{ chain_id: chain?.chainId, waits_for: 'GAS_PRICE' },
      waits_since: new Date(Date.now() - 12 * MINUTE_MS),
    })
    const [item, ...others] = await attention()
    expect(item).toMatchObject({ kind: 'waiting', count: 2 })
    expect(item?.kind === 'waiting' && [...item.codes].sort()).toEqual([
      'CHAIN_SILENT',
      'GAS_PRICE',
    ])
    expect(others).toEqual([])
  })

  test('names webhooks that the service disabled or cannot reach, and none that a member disabled', async () => {
    const insert = async (values: object = {}) => {
      const id = newId('wh_')
      const row = { id, account_id: mine.accountId, url: `https://example.com/${id}` }
      await db()('webhook').insert({ ...row, ...values })
      return id
    }
    const disabled = (disabled_reason: string) => ({
      ...{ status: 'disabled', disabled_at: new Date(), disabled_reason },
    })
    let events = 0
    const deliver = (webhook_id: string, values: object) =>
      db()('webhook_delivery').insert({
        ...{ webhook_id, account_id: mine.accountId, type: 'intent.completed' },
        ...{ event_id: (events += 1), ...values },
      })
    const attempts = JSON.stringify([{ at: new Date().toISOString(), ms: 1, status: 500 }])
    await insert()
    await insert(disabled('by_account'))
    const gone = await insert(disabled('gone'))
    const failing = await insert()
    await deliver(failing, { attempts })
    await deliver(failing, { attempts, status: 'failed', next_attempt_at: null })
    await deliver(failing, { attempts, status: 'delivered', next_attempt_at: null })
    await deliver(failing, {})
    const old = await insert()
    const created_at = new Date(Date.now() - 2 * DAY_MS)
    await deliver(old, { attempts, status: 'failed', next_attempt_at: null, created_at })
    const item = (id: string, values: object) => ({
      ...{ kind: 'webhook', id, url: `https://example.com/${id}`, ...values },
    })
    // Ids of one millisecond have no order.
    const found = await attention()
    expect(found).toHaveLength(2)
    expect(found).toContainEqual(item(gone, { disabledReason: 'gone', failed: 0, pending: 0 }))
    expect(found).toContainEqual(item(failing, { disabledReason: null, failed: 1, pending: 1 }))
  })

  test('reports credits below a tenth of the month, unless this month has no call yet', async () => {
    const account = db()('account').where({ id: mine.accountId })
    const { monthly_credits: monthly } = await account
      .clone()
      .first<{ monthly_credits: bigint }>('monthly_credits')
    const granted = Number(monthly) / 10 - 1
    await account.clone().update({ granted, purchased: 0 })
    expect(await attention()).toMatchObject([
      { kind: 'credits', balance: granted, monthly: Number(monthly) },
    ])
    await account.clone().update({ purchased: 1 })
    expect(await attention()).toEqual([])
    await account.clone().update({ purchased: 0, period: 202001 })
    expect(await attention()).toEqual([])
  })

  test('names valid keys that expire within a week', async () => {
    const expiresAt = (days: number) => new Date(Date.now() + days * DAY_MS)
    const { accountId } = mine
    await createApiKey(db(), accountId, { name: 'later', expiresAt: expiresAt(8) })
    await createApiKey(db(), accountId, { name: 'soon', expiresAt: expiresAt(2) })
    await createApiKey(db(), accountId, { name: 'revoked', expiresAt: expiresAt(1) })
    await db()('api_key').where({ name: 'revoked' }).update({ revoked_at: new Date() })
    expect(await attention()).toMatchObject([{ kind: 'key', name: 'soon' }])
  })

  test('names paused chains, and the frozen wallets and account of its own', async () => {
    const other = await createAccount(db(), { name: 'other', plan: 'pro' })
    const theirs = await newWallet({ accountId: other.id })
    const chain = nodes.registry.chains[0]
    await pauseWork(db(), { scope: 'wallet', subject: theirs.id }, order)
    await pauseWork(db(), { scope: 'account', subject: other.id }, order)
    await pauseWork(db(), { scope: 'wallet', subject: wallet.id }, order)
    await pauseWork(db(), { scope: 'account', subject: mine.accountId }, order)
    await pauseWork(db(), { scope: 'chain', subject: String(chain?.chainId) }, order)
    await pauseWork(db(), { scope: 'chain', subject: '999' }, order)
    const found = await attention()
    await db()('pause').delete()
    expect(found).toMatchObject([
      { kind: 'paused', scope: 'wallet', subject: wallet.id },
      { kind: 'paused', scope: 'account', subject: mine.accountId },
      { kind: 'paused', scope: 'chain', subject: chain?.name },
    ])
  })

  test('error: UNAUTHORIZED without a session', async () => {
    expect((await pagesOf(world)('GET', '/attention')).status).toBe(401)
  })
})
