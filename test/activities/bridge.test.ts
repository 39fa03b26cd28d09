import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities } from '../../activities/index.js'
import { listenToOperations } from '../../db/connection/listen.js'
import { findBurn } from '../../db/lanes/burns.js'
import { watchOutcomes, type Outcomes } from '../../lanes/watching.js'
import { createWorld, usdcUnits, type World } from '../lanes/world/fixture.js'
import {
  attest,
  insertCrossing,
  setBridgeFee,
  store,
  submitBurn,
  type AttestedBurn,
  type Crossing,
} from '../lanes/bridge/crossing.js'

let world: World
let listening: AbortController
let outcomes: Outcomes

beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
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

/** After so long a worker stops whose wait leads to nothing. */
const WHILE_MS = 100

type Burn = Crossing & { operationId: string }

async function createBurn(): Promise<Burn> {
  const wallet = await world.createWallet(usdcUnits)
  const crossing = await insertCrossing(world, wallet, usdcUnits, 'arbitrum-sepolia')
  return { ...crossing, ...(await submitBurn(world, crossing)) }
}

/** Waits for the attestation as the workflow does: one attempt, of a worker that stops after a while. */
async function awaitAttestation({ intentId, wallet, step }: Burn, forMs = 30_000) {
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

const messageOf = ({ wallet, units }: Burn): AttestedBurn =>
  attest(world, { recipient: wallet.address, units })

describe('awaitAttestation', () => {
  test('ends with the nonce of the message that the lanes have stored', async () => {
    const burn = await createBurn()
    await world.round()
    const attested = messageOf(burn)
    await store(world, burn.operationId, attested)
    expect(await awaitAttestation(burn)).toEqual({ nonce: attested.nonce })
  })

  test('hears of a message that is stored while it waits', async () => {
    const burn = await createBurn()
    await world.round()
    const attested = messageOf(burn)
    const waiting = awaitAttestation(burn)
    await store(world, burn.operationId, attested)
    expect(await waiting).toEqual({ nonce: attested.nonce })
  })

  test('fails for good with BRIDGE_FAILED when the burn failed on the chain', async () => {
    const burn = await createBurn()
    await world.sign()
    await setBridgeFee(world, 10_000n)
    await world.broadcast()
    await world.mine()
    await world.book()
    await setBridgeFee(world, 0n)
    const told = { type: 'BRIDGE_FAILED', nonRetryable: true }
    await expect(awaitAttestation(burn)).rejects.toMatchObject(told)
  })

  test('waits on while the block of the burn is gone', async () => {
    const burn = await createBurn()
    await world.round()
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.book()
    const waits = { type: 'WAITING', nonRetryable: false }
    await expect(awaitAttestation(burn, WHILE_MS)).rejects.toMatchObject(waits)
  })

  test('waits on while there is no message, and fails nothing', async () => {
    const burn = await createBurn()
    await world.round()
    const waits = { type: 'WAITING', nonRetryable: false }
    await expect(awaitAttestation(burn, WHILE_MS)).rejects.toMatchObject(waits)
    const intent = await world.db('intent').where({ id: burn.intentId }).first<object>()
    expect(intent).toMatchObject({ status: 'executing', error: null })
    expect(await findBurn(world.db, burn.operationId)).toMatchObject({ message: null })
  })
})
