import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectChains } from '../../../evm/connect.js'
import { positions } from '../../../api/schemas/resources.js'
import { lendingProtocol } from '../../../evm/lending/markets.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { insertTestIntent, insertTestOperation } from '../../db/rows.js'
import { closedUrl, mine } from '../../planning/chains.js'
import { startChainWorld, type ChainWorld, type WalletBody } from '../chainWorld.js'
import { startApi, withoutId } from '../api.js'
import type { ChainName } from '../../../evm/registry.js'

const usdc = 1_000_000n

let world: ChainWorld

beforeAll(async () => {
  world = await startChainWorld()
})
afterAll(() => world?.stop())

const get = (id: string, as = world.key, api = world.api) =>
  api.call('GET', `/v1/positions/${id}`, { key: as })
const getClosed = (id: string) =>
  world.api.call('GET', `/v1/positions/${id}?closed=true`, { key: world.key })

/** The row of a deposit that this wallet's intent has made. */
async function record(chain: ChainName, { id: walletId }: WalletBody, units: bigint, values = {}) {
  const { db } = world.database
  const { chainId } = world.chains.registry.get(chain)
  await world.chains.mint(chain, (await walletOf(walletId)).address, units)
  await world.chains.index(db)
  const amount = (Number(units) / 1e6).toString()
  const created = await world.lend(walletId, amount, { chain })
  expect(created.status).toBe(201)
  const id = created.body.id
  const { account_id } = await walletOf(walletId)
  await db('operation').insert({
    ...{ id: `op_${id}`, intent_id: id, sequence: 1, kind: 'deposit', chain_id: chainId },
    ...{ account_id, wallet_id: walletId, chain_key: id, min_block: 0 },
    ...{ state: 'confirmed', success: true, tx_hash: '0x01', block_number: 1, block_hash: '0x02' },
    ...{ log_index: 0, gas_used: '1', gas_cost_usd: '0', units: units.toString(), ...values },
  })
}

/** The row of a withdrawal that took so much out of what lies in the market of `base-sepolia`. */
async function recordWithdrawal(wallet: WalletBody, units: bigint, values = {}) {
  const { db } = world.database
  const chain = world.chains.registry.get('base-sepolia')
  const { account_id: accountId } = await walletOf(wallet.id)
  const [market] = chain.markets
  const step = {
    ...{ type: 'withdraw', sequence: 1, chain: chain.name, protocol: 'aave-v3', asset: 'USDC' },
    ...{ market: market?.address, amount: '3' },
  }
  const owner = { ...wallet, accountId, requestId: 'req_test' }
  const id = await insertTestIntent(db, owner, 'completed', {
    ...{ action: 'withdraw', chain: chain.name, plan: JSON.stringify({ steps: [step] }) },
  })
  await insertTestOperation(db, owner, id, {
    ...{ kind: 'withdraw', chain_id: chain.chainId, state: 'final', success: true },
    ...{ tx_hash: '0x01', block_number: 1, block_hash: '0x02', log_index: 0 },
    ...{ gas_used: '1', gas_cost_usd: '0', units: units.toString(), ...values },
  })
}

/** The columns with the current share price of Aave on `base-sepolia`. */
async function priced() {
  const client = world.chains.chains.byId(world.chains.registry.get('base-sepolia').chainId)
  const [market] = client.chain.markets
  if (!market) throw new Error('There is no market.')
  const price = await lendingProtocol(market).readSharePrice(client, market, 'latest')
  return { share_price: price.toString() }
}

const walletOf = (id: string) =>
  world.database
    .db('wallet')
    .where({ id })
    .first<{ address: string; account_id: string }>('address', 'account_id')

describe('GET /v1/positions/:walletId', () => {
  test('200: empty for a wallet without deposits', async () => {
    const wallet = await world.newWallet({ 'arbitrum-sepolia': usdc })
    const { status, body, headers } = await get(wallet.id)
    expect([status, headers.get('x-credits-charged')]).toEqual([200, '1'])
    expect(body).toEqual({ walletId: wallet.id, address: wallet.address, positions: [] })
  })

  test('200: deposit, value and earnings by chain and protocol', async () => {
    const wallet = await world.newWallet()
    for (const units of [60n * usdc, 40n * usdc]) {
      await world.supply('arbitrum-sepolia', wallet, units)
      await record('arbitrum-sepolia', wallet, units)
    }
    await world.supply('base-sepolia', wallet, 5n * usdc)
    await record('base-sepolia', wallet, 5n * usdc)
    await callRpc(world.chains.urls['arbitrum-sepolia'], 'evm_increaseTime', [30 * 86_400])
    await mine(world.chains.urls['arbitrum-sepolia'], 1)
    await world.chains.index(world.database.db)
    const { body } = await get(wallet.id)
    expect(positions.parse(body)).toEqual(body)
    const [first, second, more] = positions.parse(body).positions
    expect(more).toBeUndefined()
    expect(first).toMatchObject({
      ...{ chain: 'arbitrum-sepolia', alias: 'arbitrum', protocol: 'aave-v3', asset: 'USDC' },
      deposited: '100',
      apy: expect.closeTo(3.51, 1),
    })
    // 3.51 % a year for 30 days.
    expect(Number(first?.earned)).toBeCloseTo(0.284, 2)
    expect(Number(first?.currentValue)).toBeCloseTo(100 + Number(first?.earned), 6)
    expect(second).toMatchObject({ chain: 'base-sepolia', deposited: '5' })
    expect(Number(second?.earned)).toBeCloseTo(0, 4)
  })

  test('a withdrawal without a chain: the error names the chains where the wallet lends', async () => {
    const wallet = await world.newWallet()
    for (const chain of ['arbitrum-sepolia', 'base-sepolia'] as const) {
      await world.supply(chain, wallet, 3n * usdc)
      await record(chain, wallet, 3n * usdc)
    }
    const body = { walletId: wallet.id, action: 'withdraw', amount: 1 }
    const missing = async () =>
      (await world.api.call('POST', '/v1/intents', { key: world.key, body })).body
    expect(await missing()).toMatchObject({
      error: 'INVALID_REQUEST',
      message: 'chain is required. The wallet lends on arbitrum-sepolia and base-sepolia.',
      details: { issues: [{ path: 'chain' }] },
    })
    await recordWithdrawal(wallet, 3n * usdc)
    expect((await missing()).message).toBe(
      'chain is required. The wallet lends on arbitrum-sepolia.',
    )
  })

  test('200: a withdrawal is counted as withdrawn, not as a loss', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 5n * usdc)
    await record('base-sepolia', wallet, 8n * usdc)
    await recordWithdrawal(wallet, 3n * usdc)
    const { body } = await get(wallet.id)
    const [position, more] = positions.parse(body).positions
    expect(more).toBeUndefined()
    expect(position).toMatchObject({ chain: 'base-sepolia', deposited: '8', withdrawn: '3' })
    expect(Number(position?.currentValue)).toBeCloseTo(5, 4)
    expect(Number(position?.earned)).toBeCloseTo(0, 4)
  })

  test('200: receipt tokens that others sent in are in the value, and not earned', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 5n * usdc)
    await record('base-sepolia', wallet, 5n * usdc, await priced())
    await world.supply('base-sepolia', wallet, 7n * usdc)
    await world.chains.index(world.database.db)
    const [position] = positions.parse((await get(wallet.id)).body).positions
    expect(position).toMatchObject({ deposited: '5', withdrawn: '0' })
    expect(Number(position?.currentValue)).toBeCloseTo(12, 4)
    expect(Number(position?.earned)).toBeCloseTo(0, 4)
    await recordWithdrawal(wallet, 12n * usdc, await priced())
    const [withdrawn] = positions.parse((await getClosed(wallet.id)).body).positions
    expect(withdrawn).toMatchObject({ deposited: '5', withdrawn: '12' })
    expect(Number(withdrawn?.earned)).toBeCloseTo(0, 4)
  })

  test('200: an emptied market is no longer a position', async () => {
    const wallet = await world.newWallet()
    await record('base-sepolia', wallet, 3n * usdc)
    await recordWithdrawal(wallet, 3n * usdc + 1n)
    expect((await get(wallet.id)).body.positions).toEqual([])
  })

  test('closed=true: an emptied position keeps its earnings; a market without deposits is not listed', async () => {
    const wallet = await world.newWallet()
    await record('base-sepolia', wallet, 3n * usdc)
    await recordWithdrawal(wallet, 3n * usdc + 250_000n)
    const emptied = { deposited: '3', withdrawn: '3.25', currentValue: '0', earned: '0.25' }
    expect((await getClosed(wallet.id)).body.positions).toMatchObject([
      { chain: 'base-sepolia', protocol: 'aave-v3', asset: 'USDC', closed: true, ...emptied },
    ])
    expect((await getClosed((await world.newWallet()).id)).body.positions).toEqual([])
  })

  test('closed=true: an open position is unchanged', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 5n * usdc)
    await record('base-sepolia', wallet, 5n * usdc)
    const { body } = await getClosed(wallet.id)
    expect(body.positions).toMatchObject([{ chain: 'base-sepolia', deposited: '5' }])
    expect((body.positions as object[])[0]).not.toHaveProperty('closed')
  })

  test('counts no deposit that failed, was never mined or is of another wallet', async () => {
    const wallet = await world.newWallet()
    await record('ethereum-sepolia', await world.newWallet(), usdc)
    await record('ethereum-sepolia', wallet, usdc, { success: false, units: null })
    await record('ethereum-sepolia', wallet, usdc, {
      ...{ state: 'queued', success: null, block_hash: null, block_number: null },
    })
    expect((await get(wallet.id)).body.positions).toEqual([])
  })

  test('a chain that does not respond is named; UNAVAILABLE when none responds', async () => {
    const { registry, urls } = world.chains
    const wallet = await world.newWallet()
    const all = { 'ethereum-sepolia': closedUrl, 'arbitrum-sepolia': closedUrl }
    for (const closed of [{ 'base-sepolia': closedUrl }, { ...all, 'base-sepolia': closedUrl }]) {
      const chains = connectChains(registry, { ...urls, ...closed })
      const temporal = world.temporal.client
      const half = await startApi({ db: world.db, temporal, registry, chains })
      const { status, body } = await get(wallet.id, world.key, half)
      for (const client of chains.list) client.close()
      await half.stop()
      if (Object.keys(closed).length === 1) expect(body.unavailable).toEqual(['base-sepolia'])
      else expect([status, body.error]).toEqual([503, 'UNAVAILABLE'])
    }
  })

  test('error: WALLET_NOT_FOUND alike for an unknown wallet and one of another account', async () => {
    const { id } = await world.newWallet()
    const stranger = await world.newKey()
    const unknownId = `svc_wallet_${'0'.repeat(26)}`
    const [theirs, unknown] = [await get(id, stranger), await get(unknownId, stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })
})

describe('GET /v1/balances/:walletId: what is lent', () => {
  const balancesOf = async ({ id }: WalletBody) =>
    (await world.api.call('GET', `/v1/balances/${id}`, { key: world.key })).body

  test('the value of the positions with interest, apart from the balances', async () => {
    const wallet = await world.newWallet({ 'base-sepolia': 2n * usdc })
    await world.supply('base-sepolia', wallet, 3n * usdc)
    await world.supply('ethereum-sepolia', wallet, 5n * usdc)
    const body = await balancesOf(wallet)
    expect(body).toMatchObject({ totalValueUsd: 2, lentUsd: expect.closeTo(8, 4) })
    const shown = await world.api.call('GET', String(body.positions), { key: world.key })
    const values = positions.parse(shown.body).positions.map((one) => Number(one.currentValue))
    expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(Number(body.lentUsd), 4)
  })

  test('null while a market cannot be read, and the balances are complete', async () => {
    const wallet = await world.newWallet({ 'arbitrum-sepolia': usdc })
    const url = world.chains.urls['base-sepolia']
    const [market] = world.chains.registry.get('base-sepolia').markets
    const code = await callRpc<string>(url, 'eth_getCode', [market?.receiptToken, 'latest'])
    await callRpc(url, 'anvil_setCode', [market?.receiptToken, '0xfe'])
    const body = await balancesOf(wallet)
    await callRpc(url, 'anvil_setCode', [market?.receiptToken, code])
    expect(body).toMatchObject({ totalValueUsd: 1, lentUsd: null })
    expect(body).not.toHaveProperty('unavailable')
  })
})
