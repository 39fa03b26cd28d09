import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readSenders, type Sender } from '../../operations/signing/signing.js'
import { lockClaimed, claimOperations } from '../../operations/signing/claiming.js'
import { createWorld, usdcUnits, type World } from '../relayer/world/fixture.js'

const LEASE_MS = 10_000

let world: World
let sender: Sender
beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
  const [only] = await readSenders(world.db)
  if (!only) throw new Error('No sender.')
  sender = only
})
afterAll(() => world?.stop())

const claim = (leaseOwner: string) =>
  claimOperations(world.signerDb, { ...sender, lateSeconds: 60 }, leaseOwner)

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
      .update({ leased_until: world.db.raw(`leased_until - ? * interval '1 ms'`, [ms]) })
  const setState = (state: string) => world.db('operation').where({ id }).update({ state })

  test.each(['queued', 'signed'])(
    '%s: another signer claims the operation after the lease expires, not before',
    async (state) => {
      await setState(state)
      const claimed = await claim('dead')
      expect(claimed).toMatchObject([{ id }])
      await passTime(LEASE_MS / 2)
      expect(await claim('other')).toEqual([])
      await passTime(LEASE_MS / 2)
      expect(await claim('other')).toHaveLength(1)
      expect(await world.row(id)).toMatchObject({ lease_owner: 'other', lost_leases: 1 })
      // If the first signer still runs, it can store nothing.
      const stored = await world.signerDb.transaction((trx) => lockClaimed(trx, claimed, 'dead'))
      expect(stored).toEqual([])
    },
  )
})
