import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities, type Activities } from '../../../../activities/index.js'
import { connect, type Db } from '../../../../db/client/connect.js'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import { outcomesByHand } from '../../../support/outcomes.js'
import type { ApplicationFailure } from '@temporalio/common'

type BridgeInput = Parameters<Activities['bridge']>[0]
const HOUR_MS = 3_600_000
const logger = new DefaultLogger('ERROR')
/** Waits end at once: what they wait for is written by the test. */
const stopping = AbortSignal.abort()

let world: ChainWorld
let worker: Db

beforeAll(async () => {
  world = await startChainWorld()
  worker = connect(world.database.urlAs('steward_worker'))
})
afterAll(async () => {
  await worker?.destroy()
  await world?.stop()
})

const activitiesOf = (bridgeGiveUpMs: number) => {
  const { chains, registry } = world.chains
  const outcomes = outcomesByHand()
  const tools = { db: worker, chains, registry, outcomes }
  return createActivities({ ...tools, bridgeGiveUpMs, stopping })
}
const run = <Input, Output>(activity: (input: Input) => Promise<Output>, input: Input) =>
  new MockActivityEnvironment({}, { logger })
    .run(activity, input)
    .catch((error: unknown) => error as ApplicationFailure)

/** An intent that moves 1 USDC from arbitrum to base, and its step as the workflow knows it. */
async function newBridge() {
  const wallet = await world.newWallet({ 'arbitrum-sepolia': 1_000_000n })
  const request = { action: 'bridge', fromChain: 'arbitrum', toChain: 'base' }
  const { id } = (await world.lend(wallet.id, 1, request)).body
  const row = await world.database
    .db('intent')
    .where({ id })
    .first<{ account_id: string; plan: { steps: [BridgeInput['step']] } }>()
  const owner = { intentId: id, accountId: row.account_id, walletId: wallet.id }
  const input = { ...owner, step: row.plan.steps[0], deadlineMs: Date.now() + HOUR_MS }
  return { id, wallet, input }
}

const get = async (path: string) =>
  (await world.api.call('GET', `/v1${path}`, { key: world.key })).body

describe('Intent failure reasons of bridges', () => {
  test('BRIDGE_FAILED: funds remain at the source', async () => {
    const { id, wallet, input } = await newBridge()
    const { bridge, finalizeIntent } = activitiesOf(HOUR_MS)
    const metadata = JSON.stringify({ simulate: 'BRIDGE_FAILED' })
    await world.database.db('intent').where({ id }).update({ metadata })
    const failure = await run(bridge, { ...input, simulate: 'BRIDGE_FAILED' })
    expect(failure).toMatchObject({ type: 'BRIDGE_FAILED', nonRetryable: true })
    const { message } = failure as ApplicationFailure
    await finalizeIntent({ intentId: id, failure: { code: 'BRIDGE_FAILED', message, step: 1 } })
    const funds = [{ chain: 'arbitrum-sepolia', asset: 'USDC', amount: '1' }]
    const error = { code: 'BRIDGE_FAILED', message: expect.any(String), funds }
    expect(await get(`/intents/${id}`)).toMatchObject({ status: 'failed', error })
    const { chains } = await get(`/balances/${wallet.id}`)
    const tokens = [expect.objectContaining({ asset: 'USDC', balance: '1000000' })]
    expect(chains).toContainEqual({ chain: 'arbitrum-sepolia', alias: 'arbitrum', tokens })
  })

  test('BRIDGE_TIMEOUT is transient: the burned money is late, and the intent waits', async () => {
    const { id, input } = await newBridge()
    const { bridge, awaitAttestation } = activitiesOf(2 * HOUR_MS)
    await run(bridge, input)
    await burn(id, HOUR_MS)
    expect(await run(awaitAttestation, input)).toMatchObject({ nonRetryable: false })
    const intent = await get(`/intents/${id}`)
    const funds = [{ chain: 'bridge', asset: 'USDC', amount: '1' }]
    const delay = { code: 'BRIDGE_TIMEOUT', since: expect.any(String), funds }
    expect(intent).toMatchObject({ status: 'executing', delay })
    expect(intent).not.toHaveProperty('error')
  })

  test('BRIDGE_TIMEOUT fails the intent after a long wait, and the mint stays pending', async () => {
    const { id, input } = await newBridge()
    const { bridge, awaitAttestation } = activitiesOf(HOUR_MS)
    await run(bridge, input)
    await burn(id, 2 * HOUR_MS)
    expect(await run(awaitAttestation, input)).toMatchObject({ nonRetryable: false })
    const intent = await get(`/intents/${id}`)
    const funds = [{ chain: 'bridge', asset: 'USDC', amount: '1' }]
    expect(intent).toMatchObject({ status: 'failed', error: { code: 'BRIDGE_TIMEOUT', funds } })
    expect(intent).not.toHaveProperty('delay')
  })
})

/** The burn was confirmed some time ago, and has no attestation. */
async function burn(intentId: string, ageMs: number): Promise<void> {
  const { db } = world.database
  const operation = db('operation').where({ intent_id: intentId })
  const { id } = await operation.clone().first<{ id: string }>('id')
  await operation.clone().update({
    ...{ state: 'confirmed', success: true, tx_hash: `0x${'0'.repeat(64)}`, block_number: 1 },
    ...{ block_hash: '0x02', log_index: 0, gas_used: '1', gas_cost_usd: '0', units: '1000000' },
  })
  const burned_at = new Date(Date.now() - ageMs)
  await db('burn').where({ operation_id: id }).update({ burned_at })
}
