import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectChains, type Chains } from '../../../evm/connect.js'
import { MULTICALL_ADDRESS } from '../../../evm/calls/multicall.js'
import {
  DELEGATE_ADDRESS,
  ENTRY_POINT_ADDRESS,
  type Chain,
  type ChainName,
  type Registry,
} from '../../../evm/registry.js'
import { poolAddress } from '../../../evm/swaps/uniswapV3.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { disabledIn, isFound, type Capability } from '../../../domain/capability.js'
import { probeChains } from '../../../operations/health/deployment.js'
import { startFaultProxy, type Decide, type RpcRequest } from '../../support/faultProxy.js'
import { closedUrl, startChains, type TestChains } from '../../planning/chains.js'
import type { ChainReport } from '../../../operations/health/chain.js'

/** An unused address. */
const NOWHERE = '0x00000000000000000000000000000000DeaDBeef'

let world: TestChains

beforeAll(async () => {
  world = await startChains()
})
afterAll(() => world?.stop())

/** The registry with one of its chains changed. */
function registryWith(name: ChainName, change: (chain: Chain) => Chain): Registry {
  const chains = world.registry.chains.map((chain) => (chain.name === name ? change(chain) : chain))
  const get = (wanted: string) => chains.find((chain) => chain.name === wanted) as Chain
  const byId = (wanted: number) => chains.find(({ chainId }) => chainId === wanted) as Chain
  return { ...world.registry, chains, get, byId }
}

type Disabled = [chain: string, capability: Capability]

async function probeWith(registry: Registry, urls = world.urls): Promise<ChainReport[]> {
  const chains: Chains = connectChains(registry, urls)
  try {
    return await probeChains(chains, registry)
  } finally {
    for (const client of chains.list) client.close()
  }
}

async function disabledWith(registry: Registry, urls = world.urls): Promise<Disabled[]> {
  return disabledBy(await probeWith(registry, urls))
}

const disabledBy = (reports: ChainReport[]) =>
  reports.flatMap(({ chain, findings }) =>
    disabledIn(findings).map(({ capability }): Disabled => [chain, capability]),
  )

/** Reports with a proxied node of base, whose faults `decide` returns. */
async function probeBehind(decide: Decide): Promise<ChainReport[]> {
  const proxy = await startFaultProxy(world.urls['base-sepolia'])
  proxy.set(decide)
  try {
    return await probeWith(world.registry, { ...world.urls, 'base-sepolia': proxy.url })
  } finally {
    await proxy.stop()
  }
}

const isOverridden = ({ params }: RpcRequest) => params.length > 2

type Spot = {
  chain: ChainName
  place: string
  expected: Capability
  change: (chain: Chain, to: string) => Chain
}

const cctp = (key: 'tokenMessenger' | 'messageTransmitter') => (chain: Chain, to: string) => {
  return { ...chain, cctp: { ...chain.cctp, [key]: to } }
}

/** Each address of a chain in the registry, with the capability that its absence disables. */
function spotsOf({ name, markets, otherTokens, uniswap }: Chain): Spot[] {
  const at = (place: string, expected: Capability, change: Spot['change']): Spot => {
    return { chain: name, place, expected, change }
  }
  return [
    at('usdc', 'chain', (chain, to) => ({ ...chain, usdc: { ...chain.usdc, address: to } })),
    at('ethUsdFeed', 'prices', (chain, to) => ({ ...chain, ethUsdFeed: to })),
    at('tokenMessenger', 'bridge', cctp('tokenMessenger')),
    at('messageTransmitter', 'bridge', cctp('messageTransmitter')),
    ...(uniswap ? (['factory', 'quoter', 'router'] as const) : []).map((key) =>
      at(key, 'swaps', (chain, to) => ({ ...chain, uniswap: { ...uniswap, [key]: to } as never })),
    ),
    ...markets.flatMap((market, i) => {
      const lending = `lending:${market.address}` as const
      const change =
        (changes: (to: string) => Partial<typeof market>) => (chain: Chain, to: string) => ({
          ...chain,
          markets: chain.markets.with(i, { ...market, ...changes(to) }),
        })
      const { lendsTo } = market
      return [
        at(
          `${market.protocol} address`,
          `market:${NOWHERE}`,
          change((address) => ({ address })),
        ),
        at(
          `${market.protocol} receiptToken`,
          `market:${market.address}`,
          change((receiptToken) => ({ receiptToken })),
        ),
        at(
          `${market.protocol} underlying`,
          lending,
          change((underlying) => ({ underlying })),
        ),
        ...(lendsTo
          ? [
              at(
                'pool lent to',
                lending,
                change((pool) => ({ lendsTo: { ...lendsTo, pool } })),
              ),
              at(
                'aToken lent to',
                lending,
                change((aToken) => ({ lendsTo: { ...lendsTo, aToken } })),
              ),
            ]
          : []),
      ]
    }),
    ...otherTokens.map((token, i) => {
      const taking = markets.find(({ underlying }) => underlying === token.address)
      const change = (chain: Chain, to: string) => ({
        ...chain,
        otherTokens: chain.otherTokens.with(i, { ...token, address: to }),
      })
      return at(token.symbol, `lending:${taking?.address}`, change)
    }),
  ]
}

describe('probeChains', () => {
  test('disables nothing on a chain that matches the registry', async () => {
    const reports = await probeChains(world.chains, world.registry)
    const rows = reports.flatMap(({ findings }) => findings)
    expect(rows.filter(({ outcome }) => outcome !== 'ok')).toEqual([])
    expect(rows.length).toBeGreaterThan(30)
  })

  test('a wrong address disables its capability, and nothing else', async () => {
    const found: unknown[] = []
    const expected: unknown[] = []
    for (const { chain, place, expected: capability, change } of world.registry.chains.flatMap(
      spotsOf,
    )) {
      const registry = registryWith(chain, (one) => change(one, NOWHERE))
      found.push([chain, place, await disabledWith(registry)])
      expected.push([chain, place, [[chain, capability]]])
    }
    expect(found).toEqual(expected)
  })

  test.each([MULTICALL_ADDRESS, ENTRY_POINT_ADDRESS, DELEGATE_ADDRESS])(
    'missing code at %s disables that chain, and no other one',
    async (address) => {
      const url = world.urls['base-sepolia']
      const code = await callRpc<string>(url, 'eth_getCode', [address, 'latest'])
      await callRpc(url, 'anvil_setCode', [address, '0x'])
      try {
        expect(await disabledWith(world.registry)).toEqual([['base-sepolia', 'chain']])
      } finally {
        await callRpc(url, 'anvil_setCode', [address, code])
      }
    },
  )

  test('detects another contract at an address', async () => {
    const found: unknown[] = []
    const expected: unknown[] = []
    const spots = world.registry.chains.flatMap(spotsOf)
    for (const { chain, place, expected: capability, change } of spots) {
      // It has none of the view functions, or returns other values.
      const elsewhere = place === 'factory' ? undefined : DELEGATE_ADDRESS
      if (!elsewhere) continue
      const registry = registryWith(chain, (one) => change(one, elsewhere))
      found.push([chain, place, await disabledWith(registry)])
      expected.push([chain, place, [[chain, asOther(capability)]]])
    }
    expect(found).toEqual(expected)
  })

  test('a node of another chain disables the chain, without checks of its contracts', async () => {
    const urls = { ...world.urls, 'base-sepolia': world.urls['arbitrum-sepolia'] }
    const reports = await probeWith(world.registry, urls)
    expect(disabledBy(reports)).toEqual([['base-sepolia', 'node']])
    expect(reports[2]?.endpoints).toEqual([{ position: 1, state: 'other chain' }])
    expect(reports[2]?.findings).toHaveLength(1)
  })

  test.each<[string, Decide]>([
    ['does not answer', () => 'reset'],
    ['answers 429', () => 'http429'],
    ['stops answering', ({ method }) => (method === 'eth_chainId' ? undefined : 'http500')],
    ['refuses reads', ({ method }) => (method === 'eth_call' ? 'http500' : undefined)],
  ])('a node that %s disables nothing', async (_words, decide) => {
    const reports = await probeBehind(decide)
    expect(disabledBy(reports)).toEqual([])
    expect(reports.map(({ answered }) => answered)).toEqual([true, true, false])
  })

  test('reports an endpoint that throttles requests', async () => {
    const reports = await probeBehind(() => ({ status: 429, retryAfter: '3600' }))
    expect(reports[2]).toMatchObject({
      answered: false,
      endpoints: [{ position: 1, state: 'throttled' }],
      findings: [{ check: 'endpoint 1', outcome: 'warning', detail: 'throttles requests' }],
    })
  })

  test.each<[string, Decide]>([
    ['ignores overrides of calls', (call) => (isCall(call) ? { answer: '0x' } : undefined)],
    ['refuses overrides of calls', (call) => (isCall(call) ? unknown : undefined)],
    [
      'ignores overrides of estimates',
      (call) => (isEstimate(call) ? { answer: '0x5208' } : undefined),
    ],
  ])('a node that %s disables its chain', async (_words, decide) => {
    expect(disabledBy(await probeBehind(decide))).toEqual([['base-sepolia', 'chain']])
  })

  test('unsupported type 4 calls are a warning', async () => {
    const reports = await probeBehind(({ method, params: [call] }) => {
      const isTyped = method === 'eth_call' && (call as { type?: string }).type === '0x4'
      return isTyped ? unknown : undefined
    })
    const warnings = reports[2]?.findings.filter(({ outcome }) => outcome === 'warning')
    expect(warnings).toMatchObject([{ check: 'type 4 calls' }])
  })

  test('a missing candidate is not offered, and is no failure', async () => {
    const registry = registryWith('base-sepolia', (chain) => ({
      ...chain,
      markets: chain.markets.map((market) => ({ ...market, address: NOWHERE, isCandidate: true })),
    }))
    const reports = await probeWith(registry)
    expect(disabledBy(reports)).toEqual([])
    expect(isFound(reports[2]?.findings ?? [], NOWHERE)).toBe(false)
    const [market] = world.registry.get('base-sepolia').markets
    const found = (await probeWith(world.registry))[2]?.findings ?? []
    expect(isFound(found, market?.address ?? '')).toBe(true)
  })

  test('a warning disables no candidate', async () => {
    const registry = registryWith('base-sepolia', (chain) => ({
      ...chain,
      markets: chain.markets.map((market) => ({ ...market, isCandidate: true })),
    }))
    const proxy = await startFaultProxy(world.urls['base-sepolia'])
    proxy.set(({ method, params: [call] }) => {
      const isTyped = method === 'eth_call' && (call as { type?: string }).type === '0x4'
      return isTyped ? unknown : undefined
    })
    const urls = { ...world.urls, 'base-sepolia': proxy.url }
    const silentToo = connectChains(registry, { ...urls, 'base-sepolia': [proxy.url, closedUrl] })
    const [, , report] = await probeChains(silentToo, registry)
    for (const client of silentToo.list) client.close()
    await proxy.stop()
    const findings = report?.findings ?? []
    const warned = findings.filter(({ outcome }) => outcome === 'warning')
    expect(warned.map(({ check }) => check)).toEqual(['endpoint 2', 'type 4 calls'])
    const candidates = registry.get('base-sepolia').markets
    expect(candidates.map(({ address }) => isFound(findings, address))).toEqual(
      candidates.map(() => true),
    )
  })

  test('a swap pool that is missing or without liquidity is a warning', async () => {
    const name = world.registry.chains.find(({ uniswap }) => uniswap?.pools.length)?.name
    if (!name) throw new Error('No chain has a pool.')
    const warned = async (registry: Registry) => {
      const reports = await probeWith(registry)
      expect(disabledBy(reports)).toEqual([])
      const rows = reports.flatMap(({ findings }) => findings)
      return rows.filter(({ outcome }) => outcome === 'warning').map(({ detail }) => detail)
    }
    const missing = registryWith(name, (chain) => {
      const { uniswap } = chain
      const pools = uniswap?.pools.map((pool) => ({ ...pool, fee: 10_000 })) ?? []
      return uniswap ? { ...chain, uniswap: { ...uniswap, pools } } : chain
    })
    expect(await warned(missing)).toEqual([expect.stringContaining('no pool at')])

    const { uniswap, usdc, otherTokens } = world.registry.get(name)
    const tokens: [string, string] = [usdc.address, otherTokens[0]?.address ?? '']
    const pool = poolAddress(uniswap?.factory ?? '', tokens, uniswap?.pools[0]?.fee ?? 0)
    const url = world.urls[name]
    // The slot of `liquidity` in UniswapV3Pool.
    const at = [pool, '0x4']
    const before = await callRpc<string>(url, 'eth_getStorageAt', [...at, 'latest'])
    await callRpc(url, 'anvil_setStorageAt', [...at, `0x${'00'.repeat(32)}`])
    try {
      expect(await warned(world.registry)).toEqual(['has no liquidity at its price'])
    } finally {
      await callRpc(url, 'anvil_setStorageAt', [...at, before])
    }
  })

  test('reports contain no host of an endpoint', async () => {
    const reports = await probeWith(world.registry, { ...world.urls, 'base-sepolia': closedUrl })
    for (const url of [...Object.values(world.urls), closedUrl]) {
      expect(JSON.stringify(reports)).not.toContain(new URL(url).host)
    }
  })
})

/** A contract that is no market fails the check of the market's terms. */
function asOther(capability: Capability): Capability {
  if (!capability.startsWith('market:')) return capability
  return capability.replace('market:', 'lending:').replace(NOWHERE, DELEGATE_ADDRESS) as Capability
}

const unknown = { error: { code: -32_602, message: 'too many arguments' } }
const isCall = (call: RpcRequest) => call.method === 'eth_call' && isOverridden(call)
const isEstimate = (call: RpcRequest) => call.method === 'eth_estimateGas' && isOverridden(call)
