import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectChains } from '../../../evm/connect.js'
import { chainNames, type ChainName } from '../../../evm/registry.js'
import { startFaultProxy, type FaultProxy } from '../../support/faultProxy.js'
import { startChainWorld, type ChainWorld, type WalletBody } from '../chainWorld.js'
import { startApi } from '../api.js'

const usdc = 1_000_000n

let world: ChainWorld
let wallet: WalletBody
const proxies: FaultProxy[] = []
let asked: Record<ChainName, number>

beforeAll(async () => {
  world = await startChainWorld()
  wallet = await world.newWallet({ 'arbitrum-sepolia': 2n * usdc })
  for (const name of chainNames) {
    const proxy = await startFaultProxy(world.chains.urls[name])
    proxy.set(({ method }) => {
      if (method === 'eth_call') asked[name] += 1
      return undefined
    })
    proxies.push(proxy)
  }
})
afterAll(async () => {
  await world?.stop()
  for (const proxy of proxies) await proxy.stop()
})

/** Contract calls that each chain is asked for by one request to an API that remembers nothing. */
async function callsOf(method: 'GET' | 'POST', path: string, body?: object): Promise<number[]> {
  const urls = Object.fromEntries(chainNames.map((name, i) => [name, proxies[i]?.url ?? '']))
  const { registry } = world.chains
  const chains = connectChains(registry, urls as Record<ChainName, string>)
  const { db, temporal, key } = world
  const api = await startApi({ ...world.chains, db, temporal: temporal.client, chains })
  asked = { 'ethereum-sepolia': 0, 'arbitrum-sepolia': 0, 'base-sepolia': 0 }
  try {
    const { status } = await api.call(method, path, body ? { key, body } : { key })
    expect(status).toBe(200)
    return Object.values(asked)
  } finally {
    for (const client of chains.list) client.close()
    await api.stop()
  }
}

// One call for each block that is read, and one more where a question hangs on an answer: the worth of a vault's
// shares on their number, a quote on what can be withdrawn.
test.each([
  ['balances', [1, 1, 2]],
  ['yields', [1, 1, 1]],
  ['positions', [2, 2, 3]],
])('GET /v1/%s reads each chain with few calls', async (name, expected) => {
  const path = name === 'yields' ? '' : `/${wallet.id}`
  expect(await callsOf('GET', `/v1/${name}${path}`)).toEqual(expected)
})

test.each([
  ['lend', {}, [1, 1, 1]],
  // Those that it names.
  ['bridge', { fromChain: 'arbitrum', toChain: 'base' }, [0, 1, 1]],
])('the plan of a %s reads each chain with few calls', async (action, more, expected) => {
  const body = { walletId: wallet.id, action, amount: 1, asset: 'USDC', ...more }
  expect(await callsOf('POST', '/v1/intents?dryRun=true', body)).toEqual(expected)
})
