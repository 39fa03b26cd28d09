import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readLanes, type Lane } from '../../db/lanes/signing.js'
import { lockTaken, takeOperations } from '../../db/lanes/taking.js'
import { createWorld, usdcUnits, type World } from '../lanes/world/fixture.js'

const LEASE_MS = 10_000

let world: World
let lane: Lane
beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
  const [only] = await readLanes(world.db)
  if (!only) throw new Error('No lane.')
  lane = only
})
afterAll(() => world?.stop())

const take = (taker: string) => takeOperations(world.signerDb, { ...lane, lateSeconds: 60 }, taker)

describe('the lease of a killed signer', () => {
  let id: string
  beforeEach(async () => {
    await world.db('operation').where({ state: 'queued' }).update({ state: 'cancelled' })
    const wallet = await world.createWallet(usdcUnits)
    id = (await world.lend(wallet, usdcUnits)).operationId
  })
  /** Moves the start of the lease into the past. */
  const passTime = (ms: number) =>
    world
      .db('operation')
      .where({ id })
      .update({ taken_until: world.db.raw(`taken_until - ? * interval '1 ms'`, [ms]) })
  const setState = (state: string) => world.db('operation').where({ id }).update({ state })

  test.each(['queued', 'signed'])(
    '%s: another signer claims the operation after the lease expires, not before',
    async (state) => {
      await setState(state)
      const taken = await take('dead')
      expect(taken).toMatchObject([{ id }])
      await passTime(LEASE_MS / 2)
      expect(await take('other')).toEqual([])
      await passTime(LEASE_MS / 2)
      expect(await take('other')).toHaveLength(1)
      expect(await world.row(id)).toMatchObject({ taken_by: 'other', lost_leases: 1 })
      // If the first signer still runs, it can store nothing.
      const stored = await world.signerDb.transaction((trx) => lockTaken(trx, taken, 'dead'))
      expect(stored).toEqual([])
    },
  )
})
