import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findSpentOperations } from '../../operations/indexing/watched.js'
import { indexOutcomesIn, indexSpentKeys } from '../../relayer/foreignExecutions.js'
import { forgetOperations } from '../relayer/world/scenes/forget.js'
import {
  countExecutions,
  createFullWorld,
  prepareActions,
  type RunningIntent,
} from '../relayer/world/everyAction.js'
import { skipPauses } from '../relayer/world/treasury.js'
import type { World } from '../relayer/world/fixture.js'

type ExecutedRow = { id: string; kind: string; tx_hash: string; units: string; success: boolean }

let world: World
let running: RunningIntent[]
let known: ExecutedRow[]

/** The chain's executions, from our rows. */
const readRows = () =>
  world
    .db('operation')
    .where({ chain_id: world.chain.chainId })
    .whereIn('state', ['mined', 'confirmed', 'final'])
    .orderBy('id')
    .select<ExecutedRow[]>('id', 'kind', 'tx_hash', 'units', 'success')

/** Executes each operation, then deletes its row and signature, like a restored backup. */
beforeAll(async () => {
  world = await createFullWorld()
  running = await prepareActions(world, 1)
  const before = await readRows()
  for (let round = 1; round <= 4; round++) {
    for (const { handIn } of running) await handIn()
    await world.round()
  }
  await world.mine(40)
  await world.index()
  known = (await readRows()).filter(({ id }) => before.every((row) => row.id !== id))
})
afterAll(() => world?.stop())

const forget = () =>
  forgetOperations(
    world.db,
    known.map(({ id }) => id),
  )

describe('operations that the database has lost', () => {
  test('are indexed from their logs, each once, without a new signature', async () => {
    const kinds = known.map(({ kind }) => kind).sort()
    expect(kinds).toEqual(['bridge', 'deposit', 'fund', 'mint', 'swap', 'withdraw'])
    const before = (await world.transactions()).length
    const executed = await countExecutions(world, '0x0')
    await forget()
    await world.mine()
    await world.index()
    for (let round = 1; round <= 3; round++) {
      await skipPauses(world)
      for (const { handIn } of running) await handIn()
      await world.sign()
      await indexSpentKeys(world.driver())
      await world.mine()
      await world.index()
    }
    expect(await readRows()).toEqual(expect.arrayContaining(known))
    expect(await world.transactions()).toHaveLength(before)
    expect(await countExecutions(world, '0x0')).toEqual(executed)
    for (const { findFault } of running) expect(await findFault()).toBeUndefined()
  })

  test('are neither expired nor cancelled while their logs are searched', async () => {
    await forget()
    for (const { handIn } of running) await handIn()
    await world.sign()
    const found = await world.db('operation').whereNotNull('spent_since').select<ExecutedRow[]>()
    expect(found.length).toBeGreaterThan(0)
    const giveUp = world
      .workerDb('operation')
      .whereIn(
        'id',
        found.map(({ id }) => id),
      )
      .update({ state: 'cancelled', code: 'NETWORK_ERROR', message: 'late' })
    await expect(giveUp).rejects.toMatchObject({ code: '42501' })
  })

  test('are indexed from a given range, and only the given ones', async () => {
    const spent = await findSpentOperations(world.db, world.chain.chainId)
    const wanted = spent.filter(({ kind }) => kind === 'deposit')
    expect(wanted).toHaveLength(1)
    const state = await world.db('chain').first<{ indexed_block: bigint }>()
    const all = { from: 0n, to: state.indexed_block }
    expect(await indexOutcomesIn(world.driver(), { from: all.to, to: all.to }, wanted)).toEqual([])
    expect(await indexOutcomesIn(world.driver(), all, wanted)).toEqual(wanted.map(({ id }) => id))
    const others = spent.filter((one) => !wanted.includes(one)).map(({ id }) => id)
    const states = await world.db('operation').whereIn('id', others).pluck('state')
    expect(states).not.toContain('mined')
  })
})
