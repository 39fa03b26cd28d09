import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@temporalio/client'
import { connectTemporal, pingTemporal } from '../../../workflows/client/connect.js'
import { connectChains } from '../../../evm/connect.js'
import { readinessProbe } from '../../../api/schemas/readiness.js'
import { document } from '../../support/openapi.js'
import { closedUrl, silentChains } from '../../planning/chains.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { getShared } from '../../support/fixtures.js'
import { startApi, startWorld, type TestApi, type ApiWorld } from '../api.js'

let world: ApiWorld
let address: string
const clients: Client[] = []
const apis: TestApi[] = []

beforeAll(async () => {
  world = await startWorld()
  ;({ address } = await getShared('temporal'))
})
afterAll(async () => {
  for (const api of apis) await api.stop()
  for (const client of clients) await client.connection.close()
  await world?.stop()
})

function connectTo(address: string, namespace = 'default'): Client {
  const client = connectTemporal(address, namespace)
  clients.push(client)
  return client
}

async function readyWith(temporal: Client, { chains, registry } = silentChains()) {
  const api = await startApi({ db: world.db, temporal, chains, registry })
  apis.push(api)
  const { status, body } = await api.call('GET', '/readyz')
  return { status, body }
}

const healthy = { ready: true, postgres: true, signer: true, temporal: true, degraded: false }
const degraded = { ...healthy, temporal: false, degraded: true }

describe('GET /readyz', () => {
  test('is documented as a probe that needs no key', async () => {
    const { status, body } = await world.api.call('GET', '/readyz?verbose=false')
    expect([status, readinessProbe.safeParse(body).error]).toEqual([200, undefined])
    const { security, responses = {} } = document.paths?.['/readyz']?.get ?? {}
    expect(security).toContainEqual({})
    for (const code of ['200', '503']) {
      expect(JSON.stringify(responses[code])).toContain('#/components/schemas/ReadinessProbe')
    }
  })

  test('error: UNAUTHORIZED without a key when verbose is neither absent nor false', async () => {
    for (const query of ['verbose=true', 'verbose=1', 'verbose=', 'verbose=true&verbose=false']) {
      expect((await world.api.call('GET', `/readyz?${query}`)).status).toBe(401)
    }
  })

  test('200: all dependencies are available', async () => {
    const client = connectTo(address)
    // A first connection may take longer than the probe waits.
    await pingTemporal(client)
    expect(await readyWith(client)).toEqual({ status: 200, body: healthy })
  })

  test('200 and degraded without Temporal: intents are still accepted', async () => {
    expect(await readyWith(connectTo('127.0.0.1:1'))).toEqual({ status: 200, body: degraded })
    expect(await readyWith(connectTo(address, 'unknown'))).toEqual({
      status: 200,
      body: degraded,
    })
  })

  test('200 and degraded while the only endpoint of a chain throttles requests for an hour', async () => {
    const proxy = await startFaultProxy(closedUrl)
    proxy.set(() => ({ status: 429, retryAfter: '3600' }))
    const { registry } = silentChains()
    const urls = { 'ethereum-sepolia': closedUrl, 'arbitrum-sepolia': closedUrl }
    const chains = connectChains(registry, { ...urls, 'base-sepolia': proxy.url })
    const base = chains.byId(registry.get('base-sepolia').chainId)
    await base.send('eth_chainId', []).catch(() => undefined)
    const client = connectTo(address)
    await pingTemporal(client)
    const body = { ...healthy, degraded: true, throttled: ['base-sepolia'] }
    expect(await readyWith(client, { chains, registry })).toEqual({ status: 200, body })
    await proxy.stop()
  })

  test('503 without the public key of a signer', async () => {
    await world.database.db('kek').update({ active: false })
    const body = { ready: false, postgres: true, signer: false, degraded: false }
    expect(await readyWith(connectTo(address))).toMatchObject({ status: 503, body })
    await world.database.db('kek').update({ active: true })
  })
})
