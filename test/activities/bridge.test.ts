import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { concat, dataSlice, hexlify, randomBytes } from 'ethers'
import { createActivities } from '../../activities/index.js'
import { findBurn } from '../../db/lanes/burns.js'
import { createWorld, usdcUnits, type World } from '../lanes/world/fixture.js'
import {
  insertCrossing,
  setBridgeFee,
  submitBurn,
  type Crossing,
} from '../lanes/bridge/crossing.js'
import type { Attestations } from '../../protocols/bridges/cctp/attestations.js'

let world: World
/** What the attestation service answers about each transaction. */
let messages: Map<string, Awaited<ReturnType<Attestations['readMessages']>>>

beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
})
beforeEach(() => {
  messages = new Map()
})
afterAll(() => world?.stop())

type Burn = Crossing & { operationId: string }

async function createBurn(wallet?: Crossing['wallet']): Promise<Burn> {
  const holder = wallet ?? (await world.createWallet(2n * usdcUnits))
  const crossing = await insertCrossing(world, holder, usdcUnits, 'arbitrum-sepolia')
  return { ...crossing, ...(await submitBurn(world, crossing)) }
}

/** Waits for the attestation as the workflow does, without patience: one attempt. */
async function awaitAttestation({ intentId, wallet, step }: Burn) {
  const stopping = new AbortController()
  const attestations = {
    readMessages: (_: number, hash: string) => Promise.resolve(messages.get(hash) ?? []),
  } as Attestations
  const { awaitAttestation: activity } = createActivities({
    ...{ db: world.workerDb, chains: world.signer.chains, registry: world.registry, attestations },
    outcomes: { nextChange: () => sleep(20) },
    ...{ bridgeGiveUpMs: 3_600_000, stopping: stopping.signal },
  })
  const { id: walletId, accountId } = wallet
  const input = { intentId, accountId, walletId, step, deadlineMs: Date.now() + 3_600_000 }
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  setTimeout(() => {
    stopping.abort()
  }, 1_000)
  return environment.run<[typeof input], { nonce: string }, typeof activity>(activity, input)
}

/** Has the service attest a burn under a new nonce; the nonce. */
async function attest({ operationId }: Burn): Promise<string> {
  const { sent } = (await findBurn(world.db, operationId)) ?? {}
  const row = await world.row(operationId)
  const nonce = hexlify(randomBytes(32))
  const message = concat([dataSlice(sent ?? '0x', 0, 12), nonce, dataSlice(sent ?? '0x', 44)])
  const known = messages.get(row?.tx_hash ?? '') ?? []
  const attested = { eventNonce: nonce, message, attestation: '0x01', delayReason: undefined }
  messages.set(row?.tx_hash ?? '', [...known, attested])
  return nonce
}

describe('awaitAttestation', () => {
  test('ends with the nonce of the message, which is stored', async () => {
    const burn = await createBurn()
    await world.round()
    const nonce = await attest(burn)
    expect(await awaitAttestation(burn)).toEqual({ nonce })
    expect(await findBurn(world.db, burn.operationId)).toMatchObject({ eventNonce: nonce })
  })

  test('takes its own message out of a bundle', async () => {
    const [one, two] = [await createBurn(), await createBurn()]
    await world.round()
    const nonces = [await attest(two), await attest(one)]
    expect(await awaitAttestation(one)).toEqual({ nonce: nonces[1] })
    expect(await awaitAttestation(two)).toEqual({ nonce: nonces[0] })
  })

  test('gives each of two burns that are alike a message of its own', async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    const [one, two] = [await createBurn(wallet), await createBurn(wallet)]
    await world.round()
    const nonces = [await attest(one), await attest(two)]
    const told = [await awaitAttestation(one), await awaitAttestation(two)]
    expect(told.map(({ nonce }) => nonce)).toEqual(nonces)
    expect((await awaitAttestation(one)).nonce).toBe(nonces[0])
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

  test('waits on while the block of the burn is gone, though it was attested', async () => {
    const burn = await createBurn()
    await world.round()
    await attest(burn)
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.book()
    const waits = { type: 'WAITING', nonRetryable: false }
    await expect(awaitAttestation(burn)).rejects.toMatchObject(waits)
  })

  test('waits on while the service knows nothing, and fails nothing', async () => {
    const burn = await createBurn()
    await world.round()
    const waits = { type: 'WAITING', nonRetryable: false }
    await expect(awaitAttestation(burn)).rejects.toMatchObject(waits)
    const intent = await world.db('intent').where({ id: burn.intentId }).first<object>()
    expect(intent).toMatchObject({ status: 'executing', error: null })
  })
})
