import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities } from '../../activities/index.js'
import { listenToOperations } from '../../db/client/listen.js'
import { findBurn } from '../../operations/burns.js'
import { watchOutcomes, type Outcomes } from '../../operations/watchOutcomes.js'
import { createWorld, usdcUnits, type World } from '../relayer/world/fixture.js'
import {
  attest,
  insertCrossing,
  setBridgeFee,
  store,
  submitBurn,
  type AttestedBurn,
  type Crossing,
} from '../relayer/bridge/crossing.js'

let world: World
let listening: AbortController
let outcomes: Outcomes

beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
  listening = new AbortController()
  const url = world.database.urlAs('steward_worker')
  const stopping = listening.signal
  const listener = listenToOperations(url, stopping)
  outcomes = watchOutcomes({ db: world.workerDb, listener, stopping })
})
afterAll(async () => {
  listening.abort()
  await world?.stop()
})

/** The worker stops after this time, ms. */
const WHILE_MS = 100

type CrossingBurn = Crossing & { operationId: string }

async function createBurn(): Promise<CrossingBurn> {
  const wallet = await world.createWallet(usdcUnits)
  const crossing = await insertCrossing(world, wallet, usdcUnits, 'arbitrum-sepolia')
  return { ...crossing, ...(await submitBurn(world, crossing)) }
}

/** One attempt to wait for the attestation, in a worker that stops after a while. */
async function awaitAttestation({ intentId, wallet, step }: CrossingBurn, forMs = 30_000) {
  const stopping = new AbortController()
  const { awaitAttestation: activity } = createActivities({
    ...{ db: world.workerDb, chains: world.signer.chains, registry: world.registry },
    ...{ outcomes, bridgeGiveUpMs: 3_600_000, stopping: stopping.signal },
  })
  const { id: walletId, accountId } = wallet
  const input = { intentId, accountId, walletId, step, deadlineMs: Date.now() + 3_600_000 }
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  const limit = setTimeout(() => {
    stopping.abort()
  }, forMs)
  try {
    return await environment.run<
      [typeof input],
      Awaited<ReturnType<typeof activity>>,
      typeof activity
    >(activity, input)
  } finally {
    clearTimeout(limit)
  }
}

const messageOf = ({ wallet, units }: CrossingBurn): AttestedBurn =>
  attest(world, { recipient: wallet.address, units })

describe('awaitAttestation', () => {
  test('returns the nonce of the message that the relayer has stored', async () => {
    const burn = await createBurn()
    await world.round()
    const attested = messageOf(burn)
    await store(world, burn.operationId, attested)
    expect(await awaitAttestation(burn)).toEqual({ nonce: attested.nonce })
  })

  test('is notified of a message that is stored while it waits', async () => {
    const burn = await createBurn()
    await world.round()
    const attested = messageOf(burn)
    const waiting = awaitAttestation(burn)
    await store(world, burn.operationId, attested)
    expect(await waiting).toEqual({ nonce: attested.nonce })
  })

  test('error: BRIDGE_FAILED when the burn failed on the chain', async () => {
    const burn = await createBurn()
    await world.sign()
    await setBridgeFee(world, 10_000n)
    await world.broadcast()
    await world.mine()
    await world.index()
    await setBridgeFee(world, 0n)
    const failure = { type: 'BRIDGE_FAILED', nonRetryable: true }
    await expect(awaitAttestation(burn)).rejects.toMatchObject(failure)
  })

  test('keeps waiting while a reorg has removed the block of the burn', async () => {
    const burn = await createBurn()
    await world.round()
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    const waits = { type: 'WAITING', nonRetryable: false }
    await expect(awaitAttestation(burn, WHILE_MS)).rejects.toMatchObject(waits)
  })

  test('keeps waiting without a message, and fails nothing', async () => {
    const burn = await createBurn()
    await world.round()
    const waits = { type: 'WAITING', nonRetryable: false }
    await expect(awaitAttestation(burn, WHILE_MS)).rejects.toMatchObject(waits)
    const intent = await world.db('intent').where({ id: burn.intentId }).first<object>()
    expect(intent).toMatchObject({ status: 'executing', error: null })
    expect(await findBurn(world.db, burn.operationId)).toMatchObject({ message: null })
  })
})
