import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createActivities } from '../../activities/index.js'
import { intentBody } from '../../api/endpoints/intents/intentBody.js'
import { getIntent } from '../../db/intents/intents.js'
import { findSignature } from '../../operations/signing/signatures.js'
import { encodeBundle, type UserOperation } from '../../evm/calls/userOperation.js'
import { ENTRY_POINT_ADDRESS } from '../../evm/registry.js'
import {
  createBridgeWorld,
  dollar,
  type BridgeWorld,
  type PlannedIntent,
} from '../relayer/bridge/bridgeFixture.js'
import {
  arrived,
  bridgeRequest,
  burned,
  destination,
  expectMinted,
  lendRequest,
  source,
  stranger,
  whileMining,
} from '../relayer/bridge/bridging.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'
import { isUnsettled } from '../../domain/intent/waitReason.js'
import type { BridgeStep } from '../../domain/intent/intent.js'
import type { ChainSite } from '../relayer/world/site.js'

const giveUpMs = 3_600_000

let world: BridgeWorld
let from: ChainSite
let to: ChainSite
let wallet: StoredWallet
beforeAll(async () => {
  world = await createBridgeWorld([source, destination], { bridgeGiveUpMs: giveUpMs })
  ;[from, to] = [world.at(source), world.at(destination)]
})
beforeEach(async () => {
  wallet = await world.createWallet({ [source]: dollar })
})
afterEach(async () => {
  world.front.set(undefined)
  from.chain.cctp.seconds.standard = [1, 5]
  await world.setFaults({ stuck: false, notFound: false, expire: false, outage: false })
  await world.setFaults({ fastMaximum: 10_000_000 })
})
afterAll(() => world?.stop())

const inputOf = (intent: PlannedIntent) => world.stepInput<BridgeStep>(intent)

/** An intent with a burn, and another block on top, so that the burn can be attested. */
async function burn(request = bridgeRequest): Promise<PlannedIntent> {
  const intent = await world.intend(wallet, request)
  await world.perform(intent, 1, 'bridge')
  await from.mine()
  await from.index()
  return intent
}

/** Sets the age of the burn. */
async function age(intent: PlannedIntent, ms: number): Promise<void> {
  const burnedAt = new Date(Date.now() - ms)
  const id = world.idOf(intent, 1, 'bridge')
  await world.db('burn').where({ operation_id: id }).update({ burned_at: burnedAt })
}

/** One attempt to wait for the attestation. Its worker stops when the condition holds. */
async function attemptUntil(intent: PlannedIntent, holds: () => Promise<boolean>, change = {}) {
  const stopping = new AbortController()
  const activities = createActivities({ ...world.tools, stopping: stopping.signal })
  const input = { ...inputOf(intent), ...change }
  const attempt = world.run(activities.awaitAttestation, input).catch((error: unknown) => error)
  const isOver = attempt.then(() => true)
  const tick = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 20))
  while (!(await holds())) if (await Promise.race([isOver, tick()])) break
  stopping.abort()
  return attempt
}

/** Calls the activity until the message is stored, as the workflow does. */
async function attested(intent: PlannedIntent, change = {}): Promise<{ nonce: string }> {
  for (;;) {
    const input = { ...inputOf(intent), ...change }
    const result = await world.retry(world.activities.awaitAttestation, input)
    if (!isUnsettled(result)) return result
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Bounded by the timeout of the test. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Whether the service has received this number of requests since the call. */
function asked(times: number): () => Promise<boolean> {
  const before = world.front.requests.length
  return () => Promise.resolve(world.front.requests.length - before >= times)
}
const waiting = { type: 'WAITING', nonRetryable: false }
/** A late burn waits in its workflow at once. */
const late = { settled: false, waitsFor: { code: 'ATTESTATION' } }

describe('awaitAttestation', () => {
  test('sets no delay within the usual time, and returns its wait reason', async () => {
    await world.setFaults({ stuck: true })
    const intent = await burn()
    expect(await attemptUntil(intent, asked(2))).toMatchObject(waiting)
    expect(await world.intent(intent)).toMatchObject({ status: 'executing', delay: null })
  })

  test('sets the delay with the location of the money once, until the mint is confirmed', async () => {
    await world.setFaults({ stuck: true })
    const intent = await burn()
    await age(intent, 60_000)
    expect(await world.run(world.activities.awaitAttestation, inputOf(intent))).toMatchObject(late)
    const row = await world.intent(intent)
    expect(row).toMatchObject({
      status: 'executing',
      delay: { code: 'BRIDGE_TIMEOUT', funds: [{ chain: 'bridge', asset: 'USDC', amount: '1' }] },
    })
    await age(intent, 120_000)
    await world.run(world.activities.awaitAttestation, inputOf(intent))
    expect((await world.intent(intent))?.delay).toEqual(row?.delay)

    await world.setFaults({ stuck: false })
    await world.restartAttester()
    const { nonce } = await attested(intent)
    expect(await world.intent(intent)).toMatchObject({ delay: { code: 'BRIDGE_TIMEOUT' } })
    await whileMining(to, world.settle(world.activities.mint, { ...inputOf(intent), nonce }))
    expect(await world.intent(intent)).toMatchObject({ status: 'executing', delay: null })
  })

  test('reports a fast transfer that became a standard one with its reason and usual time', async () => {
    // As on public networks, where standard transfers are much slower.
    from.chain.cctp.seconds.standard = [780, 1_140]
    await world.setFaults({ fastMaximum: 0 })
    const intent = await burn()
    await until(async () => (await world.burn(intent))?.delayReason === 'amount_above_max')
    await age(intent, 60_000)
    const attempt = await attemptUntil(intent, asked(2))
    expect(attempt).toMatchObject(waiting)
    expect(await world.intent(intent)).toMatchObject({ status: 'executing', delay: null })
    const { intent: row, timeline } = await getIntent(world.db, intent.accountId, intent.id)
    expect(intentBody(world.registry, row, { timeline, scopes: [] }).waitingFor).toMatchObject({
      code: 'ATTESTATION',
      message: expect.stringContaining('the amount exceeds the limit of fast ones'),
      usualSeconds: 1_140,
    })
    await age(intent, 2_400_000)
    expect(await world.run(world.activities.awaitAttestation, inputOf(intent))).toMatchObject(late)
  })

  test.each(['outage', 'notFound'] as const)('counts %s as waiting', async (fault) => {
    await world.setFaults({ [fault]: true })
    const intent = await burn()
    await age(intent, 60_000)
    expect(await world.run(world.activities.awaitAttestation, inputOf(intent))).toMatchObject(late)
    await world.setFaults({ [fault]: false })
    const { nonce } = await attested(intent)
    expect(nonce).toMatch(/^0x[0-9a-f]{64}$/)
  })

  test.each([
    ['of another amount', 148 + 68],
    ['for another wallet', 148 + 36 + 20],
    ['to another chain', 8 + 3],
  ])('rejects a message %s', async (_title, at) => {
    world.front.set((messages) =>
      messages.map((one) => {
        const place = 2 + 2 * at
        const digit = one.message[place] === '1' ? '2' : '1'
        const message = one.message.slice(0, place) + digit + one.message.slice(place + 1)
        return { ...one, message }
      }),
    )
    const intent = await burn()
    expect(await attemptUntil(intent, asked(2))).toMatchObject(waiting)
    expect(await world.burn(intent)).toMatchObject({ message: null, eventNonce: null })
  })
})

describe('an intent with a burn that is too late', () => {
  test('fails with BRIDGE_TIMEOUT once, mints nevertheless, and lends nothing', async () => {
    await world.setFaults({ stuck: true })
    const intent = await burn(lendRequest)
    await age(intent, giveUpMs + 1_000)
    const tooLate = { ...late, waitsFor: { failure: 'BRIDGE_TIMEOUT' } }
    const attempt = () => world.run(world.activities.awaitAttestation, inputOf(intent))
    expect(await attempt()).toMatchObject(tooLate)
    const failed = await world.intent(intent)
    expect(failed).toMatchObject({ error: { code: 'BRIDGE_TIMEOUT', step: 1 } })
    expect(failed?.error).toMatchObject({
      funds: [{ chain: 'bridge', asset: 'USDC', amount: '1' }],
    })
    expect(failed?.error?.recovery).toBeUndefined()
    expect(await attempt()).toMatchObject(tooLate)
    expect((await world.intent(intent))?.error).toEqual(failed?.error)
    expect(await world.reservation(intent, 2)).toMatchObject({ released_at: expect.any(Date) })

    await world.setFaults({ stuck: false })
    await world.restartAttester()
    const { nonce } = await attested(intent)
    const minting = () => world.settle(world.activities.mint, { ...inputOf(intent), nonce })
    const { txHash, units } = await whileMining(to, minting())
    expect(units).toBe(arrived.toString())
    const recovered = await world.intent(intent)
    expect(recovered).toMatchObject({
      status: 'failed',
      delay: null,
      error: {
        code: 'BRIDGE_TIMEOUT',
        // The wait for the attestation has ended.
        message: expect.stringContaining(`0.9999 USDC arrived on ${destination}`),
        funds: [{ chain: destination, asset: 'USDC', amount: '0.9999' }],
        recovery: { txHash, chain: destination, asset: 'USDC', amount: '0.9999' },
      },
    })
    await minting()
    expect((await world.intent(intent))?.error).toEqual(recovered?.error)

    const lending = world.run(world.activities.deposit, world.stepInput(intent, 2))
    await expect(lending).rejects.toMatchObject({ type: 'CANCELLED', nonRetryable: true })
    expect(await to.usdcOf(wallet.address)).toBe(arrived)
    const again = await world.intend(wallet, { ...lendRequest, amountUnits: arrived })
    expect(again.plan.steps).toHaveLength(1)
  })

  test('by a simulated failure mints in the same way', async () => {
    const intent = await burn()
    const { nonce } = await attested(intent, { simulate: 'BRIDGE_TIMEOUT' })
    expect(await world.intent(intent)).toMatchObject({ error: { code: 'BRIDGE_TIMEOUT' } })
    await whileMining(to, world.run(world.activities.mint, { ...inputOf(intent), nonce }))
    expect((await world.intent(intent))?.error).toHaveProperty('recovery.amount', '0.9999')
  })
})

describe('mint', () => {
  test('follows new attesters: a standard message that the destination refuses is fetched again', async () => {
    await world.setFaults({ fastMaximum: 0 })
    // Signed by attesters that the destination does not know.
    const foreign = (attestation: string) => attestation.replace(/^0x.{10}/, '0x0123456789')
    world.front.set((messages) =>
      messages.map((one) => ({ ...one, attestation: foreign(one.attestation) })),
    )
    const intent = await burn()
    await from.mine(4)
    const { nonce } = await attested(intent)
    await world.perform(intent, 1, 'mint')
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'deferred' })
    const before = (await world.burn(intent))?.attestation
    world.front.set(undefined)
    await until(async () => (await world.burn(intent))?.attestation !== before)
    expect(await world.burn(intent)).toMatchObject({ eventNonce: nonce })
    await world.perform(intent, 1, 'mint')
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'confirmed', success: true })
  })

  test('waits while its message has expired, until a new attestation with the same nonce', async () => {
    await world.setFaults({ expire: true })
    const intent = await burned(world, wallet)
    const before = await world.burn(intent)
    await to.mine()
    await to.index()
    const nonce = before?.eventNonce ?? ''
    const attempt = () => world.run(world.activities.mint, { ...inputOf(intent), nonce })
    await expect(attempt()).rejects.toMatchObject(waiting)
    expect(await world.row(intent, 1, 'mint')).toBeUndefined()
    await until(() => Promise.resolve(world.front.requests.includes(`POST /v2/reattest/${nonce}`)))
    await from.mine(4)
    await until(async () => (await world.burn(intent))?.message !== before?.message)
    expect((await world.burn(intent))?.eventNonce).toBe(nonce)
    await whileMining(to, attempt())
    await expectMinted(world, intent)
  })

  test('follows a burn that a reorg has moved to another transaction', async () => {
    // Delegates the wallet, so that any account can include its operations.
    const first = await burned(world, wallet)
    await world.perform(first, 1, 'mint')
    await from.give(wallet.address, dollar)
    await from.mine(2)
    await world.setFaults({ expire: true })
    const intent = await burned(world, wallet)
    const nonce = (await world.burn(intent))?.eventNonce ?? ''
    await world.perform(intent, 1, 'mint')
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'deferred' })

    const payload = await findSignature(world.db, world.idOf(intent, 1, 'bridge'))
    const { userOperation } = payload as { userOperation: UserOperation }
    await from.index()
    await from.reorg(2)
    const data = encodeBundle([userOperation], stranger)
    const hash = await from.send(stranger, { to: ENTRY_POINT_ADDRESS, data })
    await world.setFaults({ expire: false })
    await from.mine(6)
    await from.index()
    expect(await world.row(intent, 1, 'bridge')).toMatchObject({ success: true, tx_hash: hash })
    await until(async () => (await world.burn(intent))?.eventNonce !== nonce)
    const id = world.idOf(intent, 1, 'mint')
    await world.db('operation').where({ id }).update({ retry_after: world.db.fn.now() })
    await whileMining(to, world.run(world.activities.mint, { ...inputOf(intent), nonce }))
    expect((await world.row(intent, 1, 'mint'))?.chain_key).not.toBe(nonce)
    await expectMinted(world, intent, 2n * arrived)
  })
})
