import { describe, expect, test } from 'vitest'
import { readPlaces, readPortChoices, readReplicas, readStateInterval } from '../../dev/settings.js'
import { TEMPORAL_ON_POSTGRES } from '../../dev/state/state.js'

describe('readPlaces', () => {
  test.each([
    [{}, 'embedded'],
    [{ TEMPORAL_STORE: 'sqlite' }, 'embedded'],
    [{ TEMPORAL_STORE: 'postgres' }, TEMPORAL_ON_POSTGRES],
    [{ TEMPORAL_STORE: 'postgres', TEMPORAL_ADDRESS: 'there:7233' }, 'there:7233'],
  ])('%o: Temporal is %s', (env, place) => {
    expect(readPlaces(env).temporal).toBe(place)
  })

  test('error: an unknown store', () => {
    expect(() => readPlaces({ TEMPORAL_STORE: 'mysql' })).toThrow('TEMPORAL_STORE=mysql')
  })
})

describe('readPortChoices', () => {
  const portsOf = (env: NodeJS.ProcessEnv) => readPortChoices(env, readPlaces(env))

  test('an embedded Temporal uses the chosen port, also on Postgres', () => {
    const env = { TEMPORAL_STORE: 'postgres', TEMPORAL_PORT: '7000' }
    expect(portsOf(env).temporal.port).toBe(7_000)
  })

  test.each([
    ['iris', 'ATTESTATION_URL', 'http://there:8548'],
    ['temporal', 'TEMPORAL_ADDRESS', 'there:7233'],
    ['temporalUi', 'TEMPORAL_ADDRESS', 'there:7233'],
    ['base-sepolia', 'RPC_URL_BASE_SEPOLIA', 'http://there:8545'],
  ] as const)('%s claims no port when %s is set', (part, variable, url) => {
    expect(portsOf({})[part].port).toBeGreaterThan(0)
    expect(portsOf({ [variable]: url })[part].port).toBe(0)
  })
})

describe('readReplicas', () => {
  test('one process of each role by default, or the configured number', () => {
    expect(readReplicas({})).toBe(1)
    expect(readReplicas({ REPLICAS: '3' })).toBe(3)
  })

  test.each(['0', '9', '1.5', 'two', '-1'])('error: REPLICAS=%s', (REPLICAS) => {
    expect(() => readReplicas({ REPLICAS })).toThrow(`REPLICAS=${REPLICAS} is not a number`)
  })
})

describe('readStateInterval', () => {
  test('the configured interval, else the default of the nodes', () => {
    expect(readStateInterval({})).toBeUndefined()
    expect(readStateInterval({ DEVNET_STATE_SECONDS: '1' })).toBe(1)
    expect(readStateInterval({ DEVNET_STATE_SECONDS: '86400' })).toBe(86_400)
  })

  test.each(['0', '86401', '1.5', 'seldom', ''])('error: DEVNET_STATE_SECONDS=%s', (text) => {
    expect(() => readStateInterval({ DEVNET_STATE_SECONDS: text })).toThrow('DEVNET_STATE_SECONDS=')
  })
})
