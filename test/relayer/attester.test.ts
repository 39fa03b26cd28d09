import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { attest, allowSharedBundle } from './bridge/crossing.js'
import {
  createAttestingWorld,
  source,
  type AttestingWorld,
  type StoredBurn,
} from './bridge/attesting.js'
import { RETRY_AFTER } from './bridge/attestationService.js'
import { finalityBlocks, usdcUnits } from './world/fixture.js'

let world: AttestingWorld
beforeAll(async () => {
  world = await createAttestingWorld()
})
beforeEach(() => world.restart())
afterAll(() => world?.stop())

describe('a burn', () => {
  test('gets its message, and the waiting step is notified', async () => {
    const burn = await world.burned()
    const announced: string[] = []
    const unsubscribe = world.listener.subscribe((change) => {
      if (change?.id === burn.operationId) announced.push(change.state)
    })
    const nonce = await world.attest(burn)
    await world.untilAttested(burn, nonce)
    await world.waitUntil(() => Promise.resolve(announced.includes('attested')))
    unsubscribe()
    expect(await world.burnOf(burn)).toMatchObject({ eventNonce: nonce, attestation: '0x01' })
  })

  test('gets its own message when its bundle has another burn, in one request', async () => {
    const [one, two] = [await world.openBurn(), await world.openBurn()]
    await world.round()
    world.service().turn('broken')
    const nonces = [await world.attest(two), await world.attest(one)]
    world.service().turn('fine')
    await world.untilAttested(one, nonces[1] ?? '')
    await world.untilAttested(two, nonces[0] ?? '')
    await world.untilNextBurnIsAttested()
    const before = world.service().requestsAbout(await world.hashOf(one))
    await world.untilNextBurnIsAttested()
    expect(world.service().requestsAbout(await world.hashOf(one))).toBe(before)
  })

  test('of twenty in one bundle shares one request with the others', async () => {
    const { attestationRequests } = world.service()
    await world.stopAttester()
    const burns: StoredBurn[] = []
    for (const wallet of await world.createWallets(20, usdcUnits)) {
      burns.push(await world.openBurn(wallet))
    }
    await world.round()
    expect(new Set(await Promise.all(burns.map(world.hashOf))).size).toBe(1)
    const nonces: string[] = []
    for (const burn of burns) nonces.push(await world.attest(burn))
    world.startAgain()
    for (const [i, burn] of burns.entries()) await world.untilAttested(burn, nonces[i] ?? '')
    expect(attestationRequests()).toHaveLength(1)
  })

  test('equal to another one in the bundle gets a message of its own', async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    const [one, two] = [await world.openBurn(wallet), await world.openBurn(wallet)]
    await allowSharedBundle(world.db)
    await world.round()
    const first = await world.attest(one)
    await world.waitUntil(async () =>
      [await world.nonceOf(one), await world.nonceOf(two)].includes(first),
    )
    const second = await world.attest(two)
    const both = async () => [await world.nonceOf(one), await world.nonceOf(two)]
    await world.waitUntil(async () => !(await both()).includes(undefined))
    expect((await both()).sort()).toEqual([first, second].sort())
  })

  test('does not get the message of another burn', async () => {
    const burn = await world.burned()
    const { address } = burn.wallet
    const stranger = `0x${'77'.repeat(20)}`
    const others = [
      { recipient: address, units: usdcUnits + 1n, destinationDomain: 6 },
      { recipient: stranger, units: usdcUnits, destinationDomain: 6 },
      { recipient: address, units: usdcUnits, destinationDomain: 0 },
    ]
    const hash = await world.hashOf(burn)
    for (const other of others) world.service().attest(hash, attest(world, other).message)
    await world.untilRequested(hash, world.service().requestsAbout(hash) + 2)
    expect(await world.burnOf(burn)).toMatchObject({ message: null, eventNonce: null })
    await world.untilAttested(burn, await world.attest(burn))
  })

  test('is not requested while a reorg has removed its block, even when it is attested', async () => {
    world.service().turn('broken')
    const burn = await world.burned()
    const nonce = await world.attest(burn)
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    expect(await world.row(burn.operationId)).toMatchObject({ state: 'signed' })
    world.service().turn('fine')
    await world.untilNextBurnIsAttested()
    const before = world.service().requests.length
    await world.untilNextBurnIsAttested()
    const hash = await world.hashOf(burn)
    expect(
      world
        .service()
        .requests.slice(before)
        .filter((request) => request.includes(hash)),
    ).toEqual([])
    expect(await world.nonceOf(burn)).toBeUndefined()
    await world.round()
    await world.untilAttested(burn, nonce)
  })

  test('that failed on the chain is not requested', async () => {
    const burn = await world.insertBurned()
    await world.db('operation').where({ id: burn.operationId }).update({ success: false })
    await world.untilNextBurnIsAttested()
    const before = world.service().requestsAbout(await world.hashOf(burn))
    await world.untilNextBurnIsAttested()
    expect(world.service().requestsAbout(await world.hashOf(burn))).toBe(before)
  })
})

describe('the attestation service', () => {
  const warnings = () =>
    world.logs.filter(({ message }) => message === 'attestation service unreachable')

  test('error: a failing service gets requests until it answers, and the failure is logged once', async () => {
    const before = warnings().length
    world.service().turn('broken')
    const burn = await world.burned()
    const hash = await world.hashOf(burn)
    await world.untilRequested(hash, 3)
    const nonce = await world.attest(burn)
    expect(await world.nonceOf(burn)).toBeUndefined()
    world.service().turn('fine')
    await world.untilAttested(burn, nonce)
    expect(warnings()).toHaveLength(before + 1)
  })

  test('error: after a 429 no request is sent until it allows one, which is logged once', async () => {
    const throttled = () =>
      world.logs.filter(
        ({ message }) => message === 'attestation requests throttled by the service',
      )
    const before = throttled().length
    const burn = await world.insertBurned()
    const nonce = await world.attest(burn)
    world.service().turn('blocked')
    await world.waitUntil(() => Promise.resolve(throttled().length > before))
    const requests = world.service().requests.length
    await world.untilRowsAreRead()
    await world.untilRowsAreRead()
    expect(world.service().requests).toHaveLength(requests)
    world.service().turn('fine')
    await world.untilAttested(burn, nonce)
    expect(throttled()).toEqual([
      ...throttled().slice(0, before),
      { ...throttled()[before], facts: { retryAfter: RETRY_AFTER } },
    ])
  })

  test('without an answer for one transaction does not delay the others', async () => {
    const [slow, quick] = [await world.insertBurned(), await world.insertBurned()]
    const hash = await world.hashOf(slow)
    world.service().turn('silent', hash)
    await world.untilRequested(hash, 1)
    await world.untilAttested(quick, await world.attest(quick))
    expect(await world.nonceOf(slow)).toBeUndefined()
    const nonce = await world.attest(slow)
    world.service().turn('fine', hash)
    await world.untilAttested(slow, nonce)
  })

  test('without answers has at most 8 open requests, and every burn gets its turn', async () => {
    await world.stopAttester()
    const burns: StoredBurn[] = []
    for (let i = 0; i < 12; i++) burns.push(await world.insertBurned())
    world.service().turn('silent')
    world.startAgain()
    await world.waitUntil(() => Promise.resolve(world.service().mostHeld() >= 8))
    await world.untilRowsAreRead()
    expect(world.service().mostHeld()).toBe(8)
    const nonces: string[] = []
    for (const burn of burns) nonces.push(await world.attest(burn))
    world.service().turn('fine')
    for (const [i, burn] of burns.entries()) await world.untilAttested(burn, nonces[i] ?? '')
  })
})

describe('two processes', () => {
  test('one sends requests, and the other takes over when it ends', async () => {
    const first = await world.leader()
    const stopSecond = world.startAttester()
    try {
      await world.untilNextBurnIsAttested()
      expect(await world.leader()).toBe(first)
      await world.stopAttester()
      const burn = await world.insertBurned()
      await world.untilAttested(burn, await world.attest(burn))
      expect(await world.leader()).not.toBe(first)
    } finally {
      await stopSecond()
    }
  })

  test('the leader takes over again after it lost its session', async () => {
    await world.db.raw('select pg_terminate_backend(?)', [await world.leader()])
    await world.untilNextBurnIsAttested()
  })
})

test('a burn with a final mint is closed', async () => {
  const burn = await world.insertBurned()
  const nonce = await world.attest(burn)
  await world.untilAttested(burn, nonce)
  const row = () => world.db('burn').where({ operation_id: burn.operationId }).first<object>()
  const { operationId } = await world.submitMint(burn, source)
  const { number, hash } = await world.rpc<{ number: string; hash: string }>(
    'eth_getBlockByNumber',
    ['latest', false],
  )
  await world
    .db('operation')
    .where({ id: operationId })
    .update({
      ...{ state: 'confirmed', success: true, block_number: Number(number), block_hash: hash },
      ...{ tx_hash: '0x01', log_index: 0, gas_used: 1, gas_cost_usd: 0 },
    })
  expect(await row()).toMatchObject({ minted: false })
  await world.mine(finalityBlocks * 2)
  await world.index()
  await world.mine()
  await world.index()
  expect(await world.row(operationId)).toMatchObject({ state: 'final' })
  expect(await row()).toMatchObject({ minted: true })
})
