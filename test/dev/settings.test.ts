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

test('readPortChoices: an embedded Temporal uses the chosen port, also on Postgres', () => {
  const env = { TEMPORAL_STORE: 'postgres', TEMPORAL_PORT: '7000' }
  expect(readPortChoices(env, readPlaces(env)).temporal.port).toBe(7_000)
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
