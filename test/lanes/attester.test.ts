import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { attest, letTravelTogether } from './bridge/crossing.js'
import { createAttestingWorld, source, type AttestingWorld, type Burn } from './bridge/attesting.js'
import { RETRY_AFTER } from './bridge/toldService.js'
import { finalityBlocks, usdcUnits } from './world/fixture.js'

let world: AttestingWorld
beforeAll(async () => {
  world = await createAttestingWorld()
})
beforeEach(() => world.restart())
afterAll(() => world?.stop())

describe('a burn', () => {
  test('gets its message, and who waits for it is told', async () => {
    const burn = await world.burned()
    const announced: string[] = []
    const unsubscribe = world.listener.subscribe((change) => {
      if (change?.id === burn.operationId) announced.push(change.state)
    })
    const nonce = await world.tell(burn)
    await world.untilAttested(burn, nonce)
    await world.waitUntil(() => Promise.resolve(announced.includes('attested')))
    unsubscribe()
    expect(await world.burnOf(burn)).toMatchObject({ eventNonce: nonce, attestation: '0x01' })
  })

  test('beside another one in the same bundle gets its own, by the same question', async () => {
    const [one, two] = [await world.openBurn(), await world.openBurn()]
    await world.round()
    world.service().turn('broken')
    const nonces = [await world.tell(two), await world.tell(one)]
    world.service().turn('fine')
    await world.untilAttested(one, nonces[1] ?? '')
    await world.untilAttested(two, nonces[0] ?? '')
    await world.untilRoundsArePast()
    const before = world.service().askedAbout(await world.hashOf(one))
    await world.untilRoundsArePast()
    expect(world.service().askedAbout(await world.hashOf(one))).toBe(before)
  })

  test('of twenty in one bundle costs a twentieth of a question', async () => {
    const { attestingQuestions } = world.service()
    await world.stopAttester()
    const burns: Burn[] = []
    for (const wallet of await world.createWallets(20, usdcUnits)) {
      burns.push(await world.openBurn(wallet))
    }
    await world.round()
    expect(new Set(await Promise.all(burns.map(world.hashOf))).size).toBe(1)
    const nonces: string[] = []
    for (const burn of burns) nonces.push(await world.tell(burn))
    world.startAgain()
    for (const [i, burn] of burns.entries()) await world.untilAttested(burn, nonces[i] ?? '')
    expect(attestingQuestions()).toHaveLength(1)
  })

  test('alike another one in the same bundle gets a message of its own', async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    const [one, two] = [await world.openBurn(wallet), await world.openBurn(wallet)]
    await letTravelTogether(world.db)
    await world.round()
    const first = await world.tell(one)
    await world.waitUntil(async () =>
      [await world.nonceOf(one), await world.nonceOf(two)].includes(first),
    )
    const second = await world.tell(two)
    const both = async () => [await world.nonceOf(one), await world.nonceOf(two)]
    await world.waitUntil(async () => !(await both()).includes(undefined))
    expect((await both()).sort()).toEqual([first, second].sort())
  })

  test('does not get the message of another one', async () => {
    const burn = await world.burned()
    const { address } = burn.wallet
    const stranger = `0x${'77'.repeat(20)}`
    const others = [
      { recipient: address, units: usdcUnits + 1n, destinationDomain: 6 },
      { recipient: stranger, units: usdcUnits, destinationDomain: 6 },
      { recipient: address, units: usdcUnits, destinationDomain: 0 },
    ]
    const hash = await world.hashOf(burn)
    for (const other of others) world.service().tell(hash, attest(world, other).message)
    await world.untilAsked(hash, world.service().askedAbout(hash) + 2)
    expect(await world.burnOf(burn)).toMatchObject({ message: null, eventNonce: null })
    await world.untilAttested(burn, await world.tell(burn))
  })

  test('is not asked about while its block is gone, though it is attested', async () => {
    world.service().turn('broken')
    const burn = await world.burned()
    const nonce = await world.tell(burn)
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.book()
    expect(await world.row(burn.operationId)).toMatchObject({ state: 'signed' })
    world.service().turn('fine')
    await world.untilRoundsArePast()
    const before = world.service().asked.length
    await world.untilRoundsArePast()
    const hash = await world.hashOf(burn)
    expect(
      world
        .service()
        .asked.slice(before)
        .filter((question) => question.includes(hash)),
    ).toEqual([])
    expect(await world.nonceOf(burn)).toBeUndefined()
    await world.round()
    await world.untilAttested(burn, nonce)
  })

  test('that failed on the chain is not asked about', async () => {
    const burn = await world.insertBurned()
    await world.db('operation').where({ id: burn.operationId }).update({ success: false })
    await world.untilRoundsArePast()
    const before = world.service().askedAbout(await world.hashOf(burn))
    await world.untilRoundsArePast()
    expect(world.service().askedAbout(await world.hashOf(burn))).toBe(before)
  })
})

describe('a service', () => {
  const warnings = () =>
    world.told.filter(({ message }) => message === 'attestation service unreachable')

  test('that refuses is asked again until it answers, and is complained of once', async () => {
    const before = warnings().length
    world.service().turn('broken')
    const burn = await world.burned()
    const hash = await world.hashOf(burn)
    await world.untilAsked(hash, 3)
    const nonce = await world.tell(burn)
    expect(await world.nonceOf(burn)).toBeUndefined()
    world.service().turn('fine')
    await world.untilAttested(burn, nonce)
    expect(warnings()).toHaveLength(before + 1)
  })

  test('that was asked too much is left alone for as long as it says, and that is told once', async () => {
    const told = () =>
      world.told.filter(
        ({ message }) => message === 'attestation requests throttled by the service',
      )
    const before = told().length
    const burn = await world.insertBurned()
    const nonce = await world.tell(burn)
    world.service().turn('blocked')
    await world.waitUntil(() => Promise.resolve(told().length > before))
    const asked = world.service().asked.length
    await world.untilLooked()
    await world.untilLooked()
    expect(world.service().asked).toHaveLength(asked)
    world.service().turn('fine')
    await world.untilAttested(burn, nonce)
    expect(told()).toEqual([
      ...told().slice(0, before),
      { ...told()[before], facts: { retryAfter: RETRY_AFTER } },
    ])
  })

  test('that is silent about one transaction holds up no other', async () => {
    const [slow, quick] = [await world.insertBurned(), await world.insertBurned()]
    const hash = await world.hashOf(slow)
    world.service().turn('silent', hash)
    await world.untilAsked(hash, 1)
    await world.untilAttested(quick, await world.tell(quick))
    expect(await world.nonceOf(slow)).toBeUndefined()
    const nonce = await world.tell(slow)
    world.service().turn('fine', hash)
    await world.untilAttested(slow, nonce)
  })

  test('that is silent has no more than 8 questions to answer at once, and gets to all', async () => {
    await world.stopAttester()
    const burns: Burn[] = []
    for (let i = 0; i < 12; i++) burns.push(await world.insertBurned())
    world.service().turn('silent')
    world.startAgain()
    await world.waitUntil(() => Promise.resolve(world.service().mostHeld() >= 8))
    await world.untilLooked()
    expect(world.service().mostHeld()).toBe(8)
    const nonces: string[] = []
    for (const burn of burns) nonces.push(await world.tell(burn))
    world.service().turn('fine')
    for (const [i, burn] of burns.entries()) await world.untilAttested(burn, nonces[i] ?? '')
  })
})

describe('of two processes', () => {
  test('one asks, and the other goes on when that one ends', async () => {
    const first = await world.leader()
    const stopSecond = world.startAttester()
    try {
      await world.untilRoundsArePast()
      expect(await world.leader()).toBe(first)
      await world.stopAttester()
      const burn = await world.insertBurned()
      await world.untilAttested(burn, await world.tell(burn))
      expect(await world.leader()).not.toBe(first)
    } finally {
      await stopSecond()
    }
  })

  test('one goes on when its session was lost', async () => {
    await world.db.raw('select pg_terminate_backend(?)', [await world.leader()])
    await world.untilRoundsArePast()
  })
})

test('a burn whose mint is final is closed', async () => {
  const burn = await world.insertBurned()
  const nonce = await world.tell(burn)
  await world.untilAttested(burn, nonce)
  const row = () => world.db('burn').where({ operation_id: burn.operationId }).first<object>()
  const { operationId } = await world.submitMint(burn, nonce, source)
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
  await world.book()
  await world.mine()
  await world.book()
  expect(await world.row(operationId)).toMatchObject({ state: 'final' })
  expect(await row()).toMatchObject({ minted: true })
})
