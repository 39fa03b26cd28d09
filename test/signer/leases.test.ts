import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createPresentName, showPresence } from '../../db/connection/presence.js'
import { endDeadLeases, readLanes, type Lane } from '../../db/lanes/signing.js'
import { lockTaken, takeOperations } from '../../db/lanes/taking.js'
import { createWorld, usdcUnits, type World } from '../lanes/world/fixture.js'

let world: World
let lane: Lane
beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
  const [only] = await readLanes(world.db)
  if (!only) throw new Error('No lane.')
  lane = only
})
afterAll(() => world?.stop())

const take = (taker: string) => takeOperations(world.signerDb, lane, taker)

/** A signer as others see it, until it ends. */
async function begin() {
  const name = createPresentName('test')
  const life = new AbortController()
  const presence = showPresence(world.database.urlAs('steward_signer'), name, life.signal)
  await presence.held
  return {
    name,
    async end() {
      life.abort()
      await presence.ended
    },
  }
}

/** Sessions that hold the lock of a name. */
async function holdersOf(name: string): Promise<number[]> {
  const { rows } = await world.db.raw<{ rows: { pid: number }[] }>(
    `select pid from pg_locks where locktype = 'advisory' and objid::bigint = ?`,
    [name.split('#')[1] ?? ''],
  )
  return rows.map(({ pid }) => pid)
}

describe('what a signer has taken', () => {
  let id: string
  beforeEach(async () => {
    await world.db('operation').where({ state: 'queued' }).update({ state: 'cancelled' })
    const wallet = await world.createWallet(usdcUnits)
    id = (await world.lend(wallet, usdcUnits)).operationId
  })

  test('is free at once when it is gone, and not before', async () => {
    const signer = await begin()
    const taken = await take(signer.name)
    expect(taken).toMatchObject([{ id }])
    expect(await endDeadLeases(world.signerDb)).toBe(0)
    expect(await take('other')).toEqual([])
    await signer.end()
    await world.waitUntil(async () => (await endDeadLeases(world.signerDb)) === 1)
    expect(await take('other')).toMatchObject([{ id, lostLeases: 1 }])
    // Should it live after all, it can store nothing.
    const stored = await world.signerDb.transaction((trx) => lockTaken(trx, taken, signer.name))
    expect(stored).toEqual([])
  })

  test('stays its own where its name tells of no lock', async () => {
    await take('somebody')
    expect(await endDeadLeases(world.signerDb)).toBe(0)
    expect(await take('other')).toEqual([])
  })

  test('that was signed and is carried again is free as well', async () => {
    await world.db('operation').where({ id }).update({ state: 'signed' })
    expect(await take(createPresentName('gone'))).toMatchObject([{ id, state: 'signed' }])
    expect(await endDeadLeases(world.signerDb)).toBe(1)
    expect(await take('other')).toMatchObject([{ id }])
    await world.db('operation').where({ id }).update({ state: 'queued' })
  })

  test('is its own again when its session was cut and made anew', async () => {
    const signer = await begin()
    const [pid] = await holdersOf(signer.name)
    await world.db.raw('select pg_terminate_backend(?)', [pid ?? 0])
    await world.waitUntil(async () => {
      const holders = await holdersOf(signer.name)
      return holders.length === 1 && holders[0] !== pid
    })
    expect(await take(signer.name)).toMatchObject([{ id }])
    expect(await endDeadLeases(world.signerDb)).toBe(0)
    await signer.end()
  })
})
