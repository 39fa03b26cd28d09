import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey } from '../../../db/accounts/accounts.js'
import { connectChains, type Chains } from '../../../evm/connect.js'
import { readiness } from '../../../api/schemas/readiness.js'
import { yields } from '../../../api/schemas/resources.js'
import { startChainWorld, type ChainWorld, type WalletBody } from '../chainWorld.js'
import { startApi, type TestApi } from '../api.js'
import type { Chain, ChainName, Registry } from '../../../evm/registry.js'

const NOWHERE = '0x00000000000000000000000000000000DeaDBeef'
const TREASURY = '0x00000000000000000000000000000000000071EA'

let world: ChainWorld
let chains: Chains
/** The API of a deployment whose registry has two wrong addresses: a Comet, and base's end of the bridge. */
let api: TestApi

const withoutComet = (chain: Chain): Chain => ({
  ...chain,
  markets: chain.markets.map((market) => {
    const { protocol } = market
    return protocol === 'compound-v3'
      ? { ...market, address: NOWHERE, receiptToken: NOWHERE }
      : market
  }),
})
const withoutBridge = (chain: Chain): Chain => ({
  ...chain,
  cctp: { ...chain.cctp, tokenMessenger: NOWHERE },
})

function broken(registry: Registry): Registry {
  const list = registry.chains.map((chain) => {
    return chain.name === 'base-sepolia' ? withoutBridge(chain) : withoutComet(chain)
  })
  const get = (name: string) => list.find((chain) => chain.name === name) as Chain
  const byId = (id: number) => list.find(({ chainId }) => chainId === id) as Chain
  return { ...registry, chains: list, get, byId }
}

beforeAll(async () => {
  world = await startChainWorld()
  const registry = broken(world.chains.registry)
  chains = connectChains(registry, world.chains.urls)
  const temporal = world.temporal.client
  api = await startApi({ db: world.db, temporal, registry, chains })
})
afterAll(async () => {
  for (const client of chains?.list ?? []) client.close()
  await api?.stop()
  await world?.stop()
})

const dryRun = (wallet: WalletBody, body: object) =>
  api.call('POST', '/v1/intents?dryRun=true', {
    key: world.key,
    body: { walletId: wallet.id, amount: 1, ...body },
  })
const disabled = { error: 'UNAVAILABLE', details: { reason: 'capability_disabled' } }

describe('GET /readyz?verbose=true', () => {
  test('error: UNAUTHORIZED without a key, and the probe of a supervisor needs none', async () => {
    const { status, body } = await api.call('GET', '/readyz?verbose=true')
    expect([status, body.error]).toEqual([401, 'UNAUTHORIZED'])
    expect(Object.keys((await api.call('GET', '/readyz')).body)).toContain('ready')
    expect(Object.keys((await api.call('GET', '/readyz?verbose=false')).body)).toContain('ready')
  })

  test('200 with a read-only key: disabled capabilities with reasons, and no URL', async () => {
    const { account_id: account } = await world.database
      .db('api_key')
      .first<{ account_id: string }>('account_id')
    const key = await createApiKey(world.database.db, account, { name: 'ops', scopes: ['read'] })
    const { status, body, text } = await api.call('GET', '/readyz?verbose=true', { key })
    expect([status, readiness.parse(body)]).toEqual([200, body])
    const shown = (body as unknown as { chains: { chain: string; disabled: object[] }[] }).chains
    expect(shown.map(({ chain, disabled: parts }) => [chain, parts])).toEqual([
      ['ethereum-sepolia', [expect.objectContaining({ capability: `market:${NOWHERE}` })]],
      ['arbitrum-sepolia', []],
      ['base-sepolia', [expect.objectContaining({ what: 'the bridge' })]],
    ])
    for (const url of Object.values(world.chains.urls))
      expect(text).not.toContain(new URL(url).host)
  })
})

describe('disabled capabilities', () => {
  test('GET /v1/yields: a disabled market is listed with the reason, the others have rates', async () => {
    const { status, body } = await api.call('GET', '/v1/yields', { key: world.key })
    expect([status, yields.parse(body)]).toEqual([200, body])
    expect(body).toMatchObject({
      rates: [
        { chain: 'ethereum-sepolia', protocol: 'aave-v3' },
        { chain: 'arbitrum-sepolia' },
        { chain: 'base-sepolia', protocol: 'aave-v3' },
        { chain: 'base-sepolia', protocol: 'erc4626' },
      ],
      disabled: [
        {
          ...{ chain: 'ethereum-sepolia', protocol: 'compound-v3', asset: 'USDC' },
          reason: `no contract at ${NOWHERE}`,
        },
      ],
    })
    expect(body.unavailable).toBeUndefined()
    const base = await api.call('GET', '/v1/yields?chain=base', { key: world.key })
    expect(base.body.disabled).toBeUndefined()
  })

  test('lend: skips disabled markets and markets behind a broken bridge, with the reason', async () => {
    const wallet = await world.newWallet({ 'arbitrum-sepolia': 2_000_000n })
    const { status, body } = await dryRun(wallet, { action: 'lend' })
    expect([status, body.executionPlan]).toEqual([
      200,
      expect.objectContaining({
        targetChain: 'arbitrum-sepolia',
        reasoning: expect.stringContaining(
          `compound-v3 on ethereum-sepolia is not offered: no contract at ${NOWHERE}.`,
        ),
      }),
    ])
    const { reasoning } = body.executionPlan as { reasoning: string }
    expect(reasoning).toContain('there is no bridge from arbitrum-sepolia to base-sepolia')
  })

  test('bridge: error UNAVAILABLE with a reason from and to the chain, other routes work', async () => {
    const money = { 'arbitrum-sepolia': 2_000_000n, 'base-sepolia': 2_000_000n }
    const wallet = await world.newWallet(money)
    const over = (fromChain: ChainName, toChain: ChainName) =>
      dryRun(wallet, { action: 'bridge', fromChain, toChain })
    for (const way of [
      await over('arbitrum-sepolia', 'base-sepolia'),
      await over('base-sepolia', 'ethereum-sepolia'),
    ]) {
      expect([way.status, way.body]).toMatchObject([503, disabled])
    }
    expect((await over('arbitrum-sepolia', 'ethereum-sepolia')).status).toBe(200)
  })

  test('withdraw: lent money can be withdrawn, also where the bridge is broken', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 2_000_000n)
    const { status, body } = await dryRun(wallet, { action: 'withdraw', chain: 'base' })
    expect([status, body.executionPlan]).toMatchObject([200, { targetProtocol: 'aave-v3' }])
    // What may lie in a market that is not there is not said to be missing.
    const there = await dryRun(wallet, { action: 'withdraw', chain: 'ethereum' })
    expect([there.status, there.body]).toMatchObject([503, disabled])
  })

  test('POST /v1/demo/fund: error UNAVAILABLE while the treasury is empty, and 201 once it is filled', async () => {
    const { id: kek_id } = await world.database.db('kek').first<{ id: string }>('id')
    const row = { address: TREASURY, kek_id, sealed: Buffer.from('00', 'hex') }
    await world.database.db('treasury').insert(row)
    const { id: walletId } = await world.newWallet()
    const fund = () => api.call('POST', '/v1/demo/fund', { key: world.key, body: { walletId } })
    const until = async (wanted: number) => {
      // A report is shared for two seconds.
      for (let i = 0; i < 100; i += 1) {
        const answer = await fund()
        if (answer.status === wanted) return answer
        await sleep(100)
      }
      throw new Error(`No answer with ${wanted}.`)
    }
    // As the probe finds it, once the treasury is there.
    chains.byId(421_614).condition.findings = [
      {
        ...{ chain: 'arbitrum-sepolia', check: 'treasury', capability: 'funding' },
        ...{ outcome: 'failed', detail: 'the treasury has 0 USDC' },
      },
    ]
    expect((await until(503)).body).toMatchObject(disabled)
    expect(await world.database.db('funding').where({ wallet_id: walletId })).toEqual([])
    await world.chains.mint('arbitrum-sepolia', TREASURY, 50_000_000n)
    await until(201)
  })
})
