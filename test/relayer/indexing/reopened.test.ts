import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../../activities/status.js'
import { findReopened } from '../../../db/intents/sweeping.js'
import { setRecovered } from '../../../db/intents/status.js'
import { createWorld, finalityBlocks, usdcUnits, type Lend, type World } from '../world/fixture.js'
import { setFrozen } from '../world/scenes/freeze.js'
import type { IntentFailure, LifecycleStatus } from '../../../domain/intent/intent.js'

type ReopenedRow = {
  status: LifecycleStatus
  error: IntentFailure | null
  completed_at: Date | null
  recover_at: Date | null
}

describe('a final status that a reorg changes', () => {
  let world: World
  let lend: Lend

  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  beforeEach(async () => {
    lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  })
  afterAll(() => world?.stop())

  const intentRow = () =>
    world.db('intent').where({ id: lend.intentId }).first<ReopenedRow | undefined>()
  const eventTypes = () =>
    world
      .db('intent_event')
      .where({ intent_id: lend.intentId })
      .orderBy('id')
      .pluck<string[]>('type')
  const failure = { code: 'DEPOSIT_FAILED', message: 'The call failed on chain.', step: 1 }
  const end = (failed?: typeof failure) =>
    finalizeIntent(world.workerDb, { intentId: lend.intentId, ...(failed && { failure: failed }) })

  /** Replaces the last blocks with empty ones. */
  async function vanish(depth: number): Promise<void> {
    await world.rpc('anvil_reorg', [depth, []])
    await world.mine()
    await world.index()
  }
  async function mineAgain(): Promise<void> {
    await world.broadcast()
    await world.mine()
    await world.index()
  }
  async function failOnChain(): Promise<void> {
    await setFrozen(world, true)
    await mineAgain()
    await setFrozen(world, false)
    await world.index()
  }

  test('completed becomes executing when its block is removed, and completed again with the money moved once', async () => {
    await world.round()
    await world.mine(4)
    await world.index()
    expect(await end()).toEqual({ status: 'completed' })
    await vanish(5)
    const open = { status: 'executing', error: null, completed_at: null }
    expect(await intentRow()).toMatchObject({ ...open, recover_at: expect.any(Date) })
    const reservation = await world.reservation(lend.intentId)
    expect(reservation).toMatchObject({ spent_block: null, released_at: null })
    expect(
      world.logs.some(({ level, facts }) => {
        const { intents } = facts as { intents?: string[] }
        return level === 'error' && intents?.includes(lend.intentId)
      }),
    ).toBe(true)
    // Not finished: an early attempt waits for the step.
    expect(await end()).toEqual({ status: 'executing' })

    await mineAgain()
    expect(await end()).toEqual({ status: 'completed' })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
    const emitted = (await eventTypes()).slice(-6)
    const steps = ['step_completed', 'completed', 'reopened', 'step_completed', 'completed']
    expect(emitted.filter((type) => type !== 'step_reverted')).toEqual(steps)
  })

  test('completed becomes failed, with the funds in the wallet, when the call fails in another block', async () => {
    await world.round()
    await end()
    await vanish(1)
    await failOnChain()
    // The workflow finds a failed step.
    expect(await end(failure)).toEqual({ status: 'failed' })
    const chain = world.chain.name
    const funds = [{ chain, asset: 'USDC', amount: '1' }]
    expect((await intentRow())?.error).toMatchObject({ code: 'DEPOSIT_FAILED', step: 1, funds })
    expect(await world.usdcOf(lend.wallet.address)).toBe(usdcUnits)
  })

  test('failed becomes completed when the call succeeds in another block', async () => {
    await world.sign()
    await failOnChain()
    expect(await end(failure)).toEqual({ status: 'failed' })
    await vanish(3)
    expect(await intentRow()).toMatchObject({ status: 'executing', error: null })
    await mineAgain()
    expect(await end(failure)).toEqual({ status: 'completed' })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  })

  test('failed without a known signature becomes completed by the late log of a used key', async () => {
    await world.sign()
    await world.db('signature').where({ operation_id: lend.operationId }).delete()
    const unsigned = { tx_id: null, state: 'cancelled', code: 'NETWORK_ERROR', spent_since: 0 }
    await world.db('operation').where({ id: lend.operationId }).update(unsigned)
    expect(await end({ ...failure, code: 'NETWORK_ERROR' })).toEqual({ status: 'failed' })
    expect(await world.reservation(lend.intentId)).toMatchObject({ released_at: expect.any(Date) })
    await mineAgain()
    const open = { status: 'executing', recover_at: expect.any(Date) }
    expect(await intentRow()).toMatchObject(open)
    expect(await world.reservation(lend.intentId)).toMatchObject({ released_at: null })
    expect(await end()).toEqual({ status: 'completed' })
  })

  test('stays the same when a reorg brings the same result', async () => {
    await world.round()
    await world.mine()
    await world.index()
    await end()
    const other = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.round()
    await vanish(1)
    expect(await intentRow()).toMatchObject({ status: 'completed', recover_at: null })
    await mineAgain()
    expect(await world.row(other.operationId)).toMatchObject({ state: 'confirmed' })
  })

  test('of a retried intent is not changed: its retry has the goal', async () => {
    await world.sign()
    await failOnChain()
    await end(failure)
    const retry = await world.insertLend(lend.wallet, usdcUnits)
    await world.db('intent').where({ id: retry }).update({ retry_of: lend.intentId })
    await vanish(3)
    expect(await intentRow()).toMatchObject({ status: 'failed', recover_at: null })
    await mineAgain()
  })

  test('never changes once it is final', async () => {
    await world.sign()
    await failOnChain()
    await end(failure)
    await world.mine(finalityBlocks)
    await world.index()
    await vanish(finalityBlocks - 3)
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'final', success: false })
    expect(await intentRow()).toMatchObject({ status: 'failed', recover_at: null })
  })

  test('keeps its mark when it changes again while its workflow is started', async () => {
    await world.round()
    await end()
    await vanish(1)
    await world.db('intent').update({ dispatch_attempted_at: null })
    const found = (await findReopened(world.workerDb, 100)).find(
      ({ intent }) => intent.id === lend.intentId,
    )
    await mineAgain()
    await end()
    await vanish(1)
    await setRecovered(world.workerDb, lend.intentId, found?.recoverAt ?? '')
    expect(await intentRow()).toMatchObject({ recover_at: expect.any(Date) })
    await mineAgain()
  })
})
