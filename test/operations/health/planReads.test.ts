import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connectChain } from '../../../evm/connect.js'
import { checkPlanReads } from '../../../operations/health/planReads.js'
import { startChains, type TestChains } from '../../planning/chains.js'
import { startFaultProxy, type Decide, type FaultProxy } from '../../support/faultProxy.js'
import type { CheckResult } from '../../../operations/health/look.js'

let world: TestChains
let proxy: FaultProxy

beforeAll(async () => {
  world = await startChains()
  proxy = await startFaultProxy(world.urls['base-sepolia'])
})
afterEach(() => proxy.set(undefined))
afterAll(async () => {
  await proxy?.stop()
  await world?.stop()
})

async function checkWith(decide: Decide, others: string[] = []): Promise<CheckResult[]> {
  proxy.set(decide)
  const client = connectChain(world.registry.get('base-sepolia'), [proxy.url, ...others])
  const rows = await checkPlanReads(client)
  client.close()
  return rows.filter(({ outcome }) => outcome !== 'ok')
}

const refused = { error: { code: -32602, message: 'invalid argument 1: cannot unmarshal object' } }
const isByHash = (params: unknown[]) =>
  params.some((one) => typeof one === 'object' && one !== null && 'blockHash' in one)

describe('checkPlanReads', () => {
  test('finds nothing at a node that serves plans', async () => {
    expect(await checkWith(() => undefined)).toEqual([])
  })

  test.each(['eth_call', 'eth_getBalance'])('%s without block hashes fails', async (name) => {
    const rows = await checkWith(({ method, params }) =>
      method === name && isByHash(params) ? refused : undefined,
    )
    expect(rows).toMatchObject([
      { check: 'endpoint 1 block hashes', capability: 'chain', outcome: 'failed' },
    ])
  })

  test('block hashes that the node ignores fail', async () => {
    const rows = await checkWith(({ method, params }) =>
      method === 'eth_getBalance' && isByHash(params) ? { answer: '0x0' } : undefined,
    )
    expect(rows).toMatchObject([{ outcome: 'failed', detail: expect.stringContaining('ignores') }])
  })

  test('logs without block hashes fail', async () => {
    const rows = await checkWith(({ method }) => (method === 'eth_getLogs' ? refused : undefined))
    expect(rows).toMatchObject([{ check: 'endpoint 1 logs by hash', outcome: 'failed' }])
  })

  test('a missing finalized block is a warning', async () => {
    const rows = await checkWith(({ params: [tag] }) =>
      tag === 'finalized' ? { answer: null } : undefined,
    )
    expect(rows).toMatchObject([{ check: 'endpoint 1 finalized block', outcome: 'warning' }])
  })

  test('a small batch is a warning with its size', async () => {
    const rows = await checkWith((_call, index = 0) => (index >= 20 ? { status: 413 } : undefined))
    expect(rows).toMatchObject([
      {
        check: 'endpoint 1 batch size',
        outcome: 'warning',
        detail: expect.stringMatching(/^only \d+ calls/),
      },
    ])
  })

  test('of several endpoints a bad one disables nothing', async () => {
    const rows = await checkWith(
      ({ params }) => (isByHash(params) ? refused : undefined),
      [world.urls['base-sepolia']],
    )
    expect(rows.map(({ check, capability }) => [check, capability])).toEqual([
      ['endpoint 1 block hashes', 'endpoint'],
      ['endpoint 1 logs by hash', 'endpoint'],
    ])
  })
})
