import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface, toQuantity } from 'ethers'
import { connect } from '../../../../db/client/connect.js'
import { waitForReceipt } from '../../../../dev/devnet/contracts/plan.js'
import { callRpc } from '../../../../dev/devnet/rpc.js'
import { planPending, type PlanningTools } from '../../../../planning/intents.js'
import { startApi, type ApiResponse, type TestApi } from '../../api.js'
import { startChainWorld, type ChainWorld, type WalletBody } from '../../chainWorld.js'

const chain = 'arbitrum-sepolia'
const usdc = 1_000_000n
const token = new Interface(['function transfer(address to, uint256 units)'])

let world: ChainWorld
/** Waits for indexing, longer than any test runs. */
let patient: TestApi
/** Hardly waits for it. */
let hasty: TestApi

beforeAll(async () => {
  world = await startChainWorld()
  const { db, temporal, chains } = world
  const parts = { db, temporal: temporal.client, ...chains }
  ;[patient, hasty] = await Promise.all([
    startApi({ ...parts, indexingWaitMs: 100_000 }),
    startApi({ ...parts, indexingWaitMs: 100 }),
  ])
})
afterAll(async () => {
  await Promise.all([patient?.stop(), hasty?.stop()])
  await world?.stop()
})

/** A wallet whose money is on the chain but not in an indexed block. */
async function walletUnindexed(units = usdc): Promise<WalletBody> {
  const wallet = await world.newWallet({})
  await world.chains.mint(chain, wallet.address, units)
  return wallet
}
const index = () => world.chains.index(world.database.db)
/** The wallet's money is moved on chain from outside. */
async function takeAway({ address: from }: WalletBody, units: bigint): Promise<void> {
  const url = world.chains.urls[chain]
  await callRpc(url, 'anvil_impersonateAccount', [from])
  await callRpc(url, 'anvil_setBalance', [from, toQuantity(10n ** 18n)])
  const to = world.chains.registry.get(chain).usdc.address
  const data = token.encodeFunctionData('transfer', [`0x${'12'.repeat(20)}`, units])
  const hash = await callRpc<string>(url, 'eth_sendTransaction', [{ from, to, data }])
  await waitForReceipt(url, hash, 10_000)
}
const postTo = (api: TestApi, body: object, { query = '', headers = {} } = {}) =>
  api.call('POST', `/v1/intents${query}`, { key: world.key, body, headers })
const post = (body: object, more = {}) => postTo(hasty, body, more)
/** Sends a request while indexing lags, then indexes. */
async function postWhileIndexing(body: object, more = {}): Promise<ApiResponse> {
  const answer = postTo(patient, body, more)
  await Promise.race([untilLookedAgain(), answer])
  await index()
  return answer
}
/** Resolves at the API's second read of the indexed block: it then waits. */
function untilLookedAgain(): Promise<void> {
  return new Promise((resolve) => {
    let looks = 0
    const listen = ({ sql }: { sql: string }) => {
      if (!/indexed_block/.test(sql) || !/from "chain"/.test(sql)) return
      looks += 1
      if (looks < 2) return
      world.db.removeListener('query', listen)
      resolve()
    }
    world.db.on('query', listen)
  })
}
const lendOf = ({ id }: WalletBody, amount: unknown = 1) => ({
  ...{ walletId: id, action: 'lend', amount, chain },
})

/** The deposit of an intent, as the relayer leaves it. */
async function insertOperation(
  { id }: WalletBody,
  intent: ApiResponse,
  values: object,
): Promise<void> {
  const { db } = world.database
  const key = intent.body.id
  await db('operation').insert({
    ...{ id: key, intent_id: key, sequence: 1, kind: 'deposit', chain_id: 421_614, chain_key: key },
    ...{ account_id: db('wallet').where({ id }).select('account_id'), wallet_id: id, min_block: 0 },
    ...values,
  })
}

async function asWorker<T>(action: (tools: PlanningTools) => Promise<T>): Promise<T> {
  const db = connect(world.database.urlAs('steward_worker'), 2)
  const { chains, registry } = world.chains
  return action({ db, chains, registry }).finally(() => db.destroy())
}
const rowOf = (id: unknown) =>
  world.database
    .db('intent')
    .where({ id: String(id) })
    .first<{ status: string; seen_blocks: object[] | null }>()

describe('POST /v1/intents while indexing lags', () => {
  test('waits for indexing, then returns the plan', async () => {
    const wallet = await walletUnindexed()
    const answer = await postWhileIndexing(lendOf(wallet))
    expect(answer).toMatchObject({ status: 201, body: { status: 'planning' } })
    expect(await rowOf(answer.body.id)).toMatchObject({ seen_blocks: null })
  })

  test('201 pending when it takes longer, and a replay answers the same', async () => {
    const wallet = await walletUnindexed()
    const headers = { 'idempotency-key': `late ${wallet.id}` }
    const answer = await post(lendOf(wallet), { headers })
    expect(answer).toMatchObject({ status: 201, body: { status: 'pending' } })
    const seen = { chainId: 421_614, number: expect.stringMatching(/^\d+$/) }
    expect((await rowOf(answer.body.id))?.seen_blocks).toEqual([seen])

    const plan = () => asWorker((tools) => planPending(tools, answer.body.id))
    const waits = { code: 'RPC_ERROR', message: expect.stringContaining('not indexed yet') }
    await expect(plan()).rejects.toMatchObject(waits)
    await index()
    expect(await plan()).toMatchObject({ targetChain: chain, steps: [{ amount: '1' }] })
    expect(await rowOf(answer.body.id)).toMatchObject({ status: 'planning' })
    const again = await post(lendOf(wallet), { headers })
    expect(again.text).toBe(answer.text)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  test('money that has left meanwhile: a final INSUFFICIENT_FUNDS, once indexed', async () => {
    const wallet = await walletUnindexed()
    const { body } = await post(lendOf(wallet))
    expect(body).toMatchObject({ status: 'pending' })
    await takeAway(wallet, usdc)
    const plan = () => asWorker((tools) => planPending(tools, body.id))
    await expect(plan()).rejects.toMatchObject({ code: 'RPC_ERROR' })
    await index()
    await expect(plan()).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  })

  test('new money in addition to a step that was mined and is not indexed: 201', async () => {
    const wallet = await world.newWallet({ [chain]: 3n * usdc })
    const first = await post(lendOf(wallet, 3))
    await insertOperation(wallet, first, { state: 'signed' })
    await takeAway(wallet, 3n * usdc)
    await world.chains.mint(chain, wallet.address, 2n * usdc)
    const answer = await post(lendOf(wallet, 2))
    expect(answer).toMatchObject({ status: 201, body: { status: 'pending' } })
    await index()
  })

  test('error: money that arrived for a step of another intent is not available', async () => {
    const wallet = await world.newWallet({ [chain]: usdc })
    const first = await post(lendOf(wallet))
    const fed = { fed_by: 0, from_block: null }
    const { db } = world.database
    await db('reservation').where({ intent_id: first.body.id }).update(fed)
    await insertOperation(wallet, first, { state: 'signed', sequence: 0, kind: 'mint' })
    await takeAway(wallet, usdc)
    await index()
    await world.chains.mint(chain, wallet.address, usdc)
    const answer = await postTo(patient, lendOf(wallet))
    expect([answer.status, answer.body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    await world.chains.mint(chain, wallet.address, usdc)
    expect((await post(lendOf(wallet))).body).toMatchObject({ status: 'pending' })
    await index()
  })

  test('a dry run waits too, then returns the plan', async () => {
    const wallet = await walletUnindexed()
    const query = '?dryRun=true'
    const early = await post(lendOf(wallet), { query })
    expect([early.status, early.body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    const answer = await postWhileIndexing(lendOf(wallet), { query })
    expect(answer).toMatchObject({ status: 200, body: { dryRun: true } })
  })

  test('max of a position that is not indexed: waits, then returns the plan', async () => {
    const wallet = await world.newWallet({})
    const supplied = world.supply(chain, wallet, usdc)
    await supplied
    // The deposit is indexed. Reset the index to an earlier block.
    const { db } = world.database
    const row = await db('chain').where({ name: chain }).first<{ indexed_block: bigint }>()
    const before = await callRpc<{ hash: string }>(
      world.chains.urls[chain],
      'eth_getBlockByNumber',
      [toQuantity(row.indexed_block - 1n), false],
    )
    const number = (row.indexed_block - 1n).toString()
    await db('block_header')
      .insert({ chain_id: 421_614, number, hash: before.hash })
      .onConflict(['chain_id', 'number'])
      .merge()
    const old = { indexed_block: number, indexed_hash: before.hash }
    await db('chain').where({ name: chain }).update(old)
    const body = { walletId: wallet.id, action: 'withdraw', amount: 'max', chain }
    const refused = await post(body)
    expect([refused.status, refused.body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    const answer = await postWhileIndexing(body)
    expect(answer).toMatchObject({ status: 201, body: { status: 'planning' } })
  })

  test('a retry waits as well', async () => {
    const wallet = await world.newWallet({ [chain]: usdc })
    const { body } = await post(lendOf(wallet))
    const { db } = world.database
    await db.raw(
      `select transition_intent(?, 'failed', '{"code":"NETWORK_ERROR","message":"test"}')`,
      [body.id],
    )
    await db('reservation').where({ intent_id: body.id }).update({ released_at: new Date() })
    const other = await post(lendOf(wallet))
    expect(other.status).toBe(201)
    await world.chains.mint(chain, wallet.address, usdc)
    const path = `/v1/intents/${body.id}/retry`
    const answer = await hasty.call('POST', path, { key: world.key })
    expect(answer).toMatchObject({ status: 201, body: { status: 'pending', retryOf: body.id } })
    await index()
  })
})

describe('INSUFFICIENT_FUNDS for money that is really missing', () => {
  test('waits for nothing', async () => {
    const wallet = await world.newWallet({ [chain]: usdc })
    expect((await postTo(patient, lendOf(wallet, 2))).status).toBe(400)
    // The same while indexing lags, as long as the newest block has no more money.
    await callRpc(world.chains.urls[chain], 'anvil_mine', [toQuantity(3)])
    expect((await postTo(patient, lendOf(wallet, 2))).status).toBe(400)
    await index()
  })
})

describe('INSUFFICIENT_FUNDS', () => {
  test('names the intents that reserve money, their amounts and their ends', async () => {
    const wallet = await world.newWallet({ [chain]: 3n * usdc })
    const first = await post(lendOf(wallet, 2))
    const refused = await post(lendOf(wallet, 2))
    expect(refused.status).toBe(400)
    const held = {
      ...{ intentId: first.body.id, step: 1, chain, asset: 'USDC', amount: '2', why: 'open' },
      since: first.body.createdAt,
    }
    expect(refused.body.details).toMatchObject({ required: '2', available: '1', held: [held] })
    expect(refused.body.message).toContain(
      '2 USDC are reserved by other intents. See details.held.',
    )

    const failed = { state: 'confirmed', success: false, block_number: 1, block_hash: '0x01' }
    await insertOperation(wallet, first, failed)
    const later = await post(lendOf(wallet, 2))
    const [{ until }] = later.body.details.held as [{ until: string }]
    expect(later.body.details).toMatchObject({ held: [{ ...held, why: 'not_final' }] })
    expect(Date.parse(until)).toBeGreaterThan(Date.now())
    expect(later.body.message).toContain(`2 USDC are reserved until ${until}: a reorg could still`)
  })

  test('of a withdrawal names other withdrawals of the wallet, and none of other wallets', async () => {
    const [wallet, other] = [await world.newWallet({}), await world.newWallet({})]
    await world.supply(chain, wallet, 3n * usdc)
    await world.supply(chain, other, 3n * usdc)
    const withdraw = (of: WalletBody, amount: number) =>
      post({ walletId: of.id, action: 'withdraw', amount, chain })
    const first = await withdraw(wallet, 2)
    expect((await withdraw(other, 1)).status).toBe(201)
    const refused = await withdraw(wallet, 2)
    expect(refused.body.details).toMatchObject({
      held: [{ intentId: first.body.id, amount: '2', why: 'open' }],
    })
    expect(refused.body.details.held).toHaveLength(1)
  })

  test('names ten intents at most', async () => {
    const wallet = await world.newWallet({ [chain]: 12n * usdc })
    for (let i = 0; i < 12; i++) await post(lendOf(wallet))
    const { body } = await post(lendOf(wallet))
    expect(body.details.held).toHaveLength(10)
  })
})

describe('INSUFFICIENT_FUNDS while test money is on its way', () => {
  test('names it in details.onItsWay, until it has failed to come', async () => {
    const wallet = await world.newWallet({})
    const body = { walletId: wallet.id }
    const { body: funding } = await world.api.call('POST', '/v1/demo/fund', {
      key: world.key,
      body,
    })
    const refused = await post(lendOf(wallet))
    expect([refused.status, refused.body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(refused.body.details.onItsWay).toEqual([
      { fundingId: funding.id, chain, asset: 'USDC', amount: '1', since: funding.createdAt },
    ])
    expect(refused.body.message).toContain('1 USDC are on their way. See details.onItsWay.')
    const given = { kind: 'fund', state: 'cancelled', code: 'NETWORK_ERROR', message: 'late' }
    await insertOperation(wallet, { body: funding } as ApiResponse, given)
    expect((await post(lendOf(wallet))).body.details).not.toHaveProperty('onItsWay')
  })
})
