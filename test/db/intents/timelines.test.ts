import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../../activities/status.js'
import { createBridgeWorld, dollar, type BridgeWorld } from '../../relayer/bridge/bridgeFixture.js'
import { burned, destination, lendRequest, source } from '../../relayer/bridge/bridging.js'
import { createWorld, usdcUnits, type World } from '../../relayer/world/fixture.js'
import { setFrozen } from '../../relayer/world/scenes/freeze.js'
import type { Db } from '../../../db/client/connect.js'

type TimelineEvent = { type: string; data: { step?: number; kind?: string; chain?: string } }

/** The events of an intent, in ascending order of ids. */
const timelineOf = (db: Db, intentId: string) =>
  db('intent_event')
    .where({ intent_id: intentId })
    .orderBy('id')
    .select<TimelineEvent[]>('type', 'data')
const typesOf = async (db: Db, intentId: string) =>
  (await timelineOf(db, intentId)).map(({ type }) => type)

describe('events of a lend', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  const lend = async () => world.lend(await world.createWallet(usdcUnits), usdcUnits)
  const finish = (intentId: string, failure?: Parameters<typeof finalizeIntent>[1]['failure']) =>
    finalizeIntent(world.workerDb, { intentId, ...(failure && { failure }) })
  const begun = ['created', 'planned', 'executing', 'step_started']

  test('from its creation to its completion', async () => {
    const { intentId, operationId, order } = await lend()
    await world.round()
    await world.submit(order)
    await finish(intentId)
    await finish(intentId)
    const timeline = await timelineOf(world.db, intentId)
    expect(timeline.map(({ type }) => type)).toEqual([...begun, 'step_completed', 'completed'])
    const step = { step: 1, kind: 'deposit', chain: world.chain.name }
    expect(timeline[3]?.data).toEqual(step)
    const { tx_hash: txHash } = (await world.row(operationId)) ?? {}
    expect(timeline[4]?.data).toEqual({ ...step, txHash })
  })

  test('are reverted and emitted again after a reorg', async () => {
    const { intentId } = await lend()
    await world.round()
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    const reverted = [...begun, 'step_completed', 'step_reverted']
    expect(await typesOf(world.db, intentId)).toEqual(reverted)
    await world.round()
    await finish(intentId)
    const end = ['step_completed', 'completed']
    expect(await typesOf(world.db, intentId)).toEqual([...reverted, ...end])
  })

  test('with a call that fails on chain', async () => {
    const { intentId } = await lend()
    await world.sign()
    await setFrozen(world, true)
    await world.broadcast()
    await world.mine()
    await world.index()
    await setFrozen(world, false)
    await finish(intentId, { code: 'DEPOSIT_FAILED', message: 'It failed.', step: 1 })
    expect(await typesOf(world.db, intentId)).toEqual([...begun, 'step_failed', 'failed'])
  })

  test('with a step that expires unsigned', async () => {
    const { intentId } = await lend()
    await finish(intentId, { code: 'NETWORK_ERROR', message: 'Too late.', step: 1 })
    const timeline = await timelineOf(world.db, intentId)
    expect(timeline.map(({ type }) => type)).toEqual([...begun, 'step_failed', 'failed'])
    expect(timeline[4]?.data).toMatchObject({ step: 1, code: 'NETWORK_ERROR' })
  })

  test('of several intents in one block: each has its own, once', async () => {
    const lends = []
    for (const wallet of await world.createWallets(3, usdcUnits)) {
      lends.push(await world.lend(wallet, usdcUnits))
    }
    await world.round()
    for (const { intentId } of lends) {
      await finish(intentId)
      const whole = [...begun, 'step_completed', 'completed']
      expect(await typesOf(world.db, intentId)).toEqual(whole)
    }
  })
})

describe('events of a lend over a bridge', () => {
  let world: BridgeWorld
  beforeAll(async () => {
    world = await createBridgeWorld([source, destination])
  })
  afterAll(() => world?.stop())

  const wallet = () => world.createWallet({ [source]: dollar })
  const eventsOf = async (intentId: string) =>
    (await timelineOf(world.db, intentId)).map(({ type, data: { step, kind, chain } }) =>
      step === undefined ? type : [type, step, kind, chain],
    )

  const begun = ['created', 'planned', 'executing', ['step_started', 1, 'bridge', source]]

  test('burn, mint and deposit: two steps, three operations', async () => {
    const intent = await burned(world, await wallet(), lendRequest)
    await world.perform(intent, 1, 'mint')
    await world.perform(intent, 2, 'deposit')
    await finalizeIntent(world.workerDb, { intentId: intent.id })
    expect(await eventsOf(intent.id)).toEqual([
      ...begun,
      ['step_progressed', 1, 'bridge', source],
      ['step_completed', 1, 'mint', destination],
      ['step_started', 2, 'deposit', destination],
      ['step_completed', 2, 'deposit', destination],
      'completed',
    ])
  })

  test('a mint that disappears after the failure of the intent is executed again', async () => {
    const intent = await burned(world, await wallet(), lendRequest)
    const failure = { code: 'BRIDGE_TIMEOUT', message: 'Too late.', step: 1 }
    await finalizeIntent(world.workerDb, { intentId: intent.id, failure })
    await world.perform(intent, 1, 'mint')
    await world.at(destination).reorg(1)
    await world.at(destination).mine()
    await world.at(destination).index()
    await world.at(destination).round()
    const mint = [1, 'mint', destination]
    expect(await eventsOf(intent.id)).toEqual([
      ...begun,
      ['step_progressed', 1, 'bridge', source],
      'failed',
      ...[
        ['step_completed', ...mint],
        ['step_reverted', ...mint],
        ['step_completed', ...mint],
      ],
    ])
  })
})
