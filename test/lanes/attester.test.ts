import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { hexlify, randomBytes } from 'ethers'
import { listenToOperations, type Listener } from '../../db/connection/listen.js'
import { findBurn } from '../../db/lanes/burns.js'
import { runAttester } from '../../lanes/attester.js'
import { connectAttestations } from '../../protocols/bridges/bridges.js'
import { attest, insertCrossing, submitBurn, type Crossing } from './bridge/crossing.js'
import { startToldService } from './bridge/toldService.js'
import { createWorld, finalityBlocks, usdcUnits, type World } from './world/fixture.js'

const source = 'arbitrum-sepolia'
const destination = 'base-sepolia'
/** Of the destination, which is only in the database. */
const bookedBlock = 100n
const attesterLock = 7_704

let world: World
let service: Awaited<ReturnType<typeof startToldService>>
let listening: AbortController
let listener: Listener
let stopAttester: () => Promise<void>

beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
  await world.db('chain').insert({
    ...{ id: world.registry.get(destination).chainId, name: destination, booked_hash: '0x' },
    ...{ booked_block: bookedBlock.toString(), finalized_block: 1 },
  })
  listening = new AbortController()
  listener = listenToOperations(world.database.urlAs('steward_lanes'), listening.signal)
})
beforeEach(async () => {
  service = await startToldService()
  stopAttester = startAttester()
})
afterEach(async () => {
  await service.stop()
  await stopAttester()
  // What is left open is not asked about in the next test.
  await world.db('burn').update({ minted: true })
})
afterAll(async () => {
  listening.abort()
  await world?.stop()
})

/** A process of the lanes, as far as it attests; ends it. */
function startAttester(): () => Promise<void> {
  const stopping = new AbortController()
  const url = world.database.urlAs('steward_lanes')
  const attestations = connectAttestations(service.url)
  const { registry, log } = world
  const running = runAttester({ url, attestations, registry, listener, log }, stopping.signal)
  return () => {
    stopping.abort()
    return running
  }
}

type Burn = Crossing & { operationId: string }

async function submit(wallet?: Crossing['wallet'], units = usdcUnits): Promise<Burn> {
  const holder = wallet ?? (await world.createWallet(units))
  const crossing = await insertCrossing(world, holder, units, source)
  return { ...crossing, ...(await submitBurn(world, crossing)) }
}
async function burned(): Promise<Burn> {
  const burn = await submit()
  await world.round()
  return burn
}

/** A burn that was mined in a transaction of its own, as its row says. */
async function insertBurned(): Promise<Burn> {
  const burn = await submit(await world.createWallet(0n))
  const { wallet, units, operationId } = burn
  await world
    .db('operation')
    .where({ id: operationId })
    .update({
      ...{
        state: 'confirmed',
        success: true,
        payload: '{}',
        units: units.toString(),
        log_index: 0,
      },
      ...{ tx_hash: hexlify(randomBytes(32)), block_number: 1, block_hash: '0x02' },
      ...{ gas_used: 1, gas_cost_usd: 0 },
    })
  const { message: sent } = attest(world, {
    recipient: wallet.address,
    units,
    destinationDomain: 6,
  })
  const burned_at = world.db.fn.now()
  await world.db('burn').where({ operation_id: operationId }).update({ sent, burned_at })
  return burn
}

const hashOf = async ({ operationId }: Burn) => (await world.row(operationId))?.tx_hash ?? ''
const burnOf = async ({ operationId }: Burn) => findBurn(world.db, operationId)
const nonceOf = async (burn: Burn) => (await burnOf(burn))?.eventNonce ?? undefined

/** Has the service attest a burn; the nonce. */
async function tell(burn: Burn, options: { nonce?: string; expiresAt?: bigint } = {}) {
  return service.tell(await hashOf(burn), (await burnOf(burn))?.sent ?? '', options)
}
const untilAttested = (burn: Burn, nonce: string) =>
  world.waitUntil(async () => (await nonceOf(burn)) === nonce)
const untilAsked = (hash: string, times: number) =>
  world.waitUntil(() => Promise.resolve(service.askedAbout(hash) >= times))

/** The session that leads, and when it last asked something. */
async function readLeader(): Promise<{ pid: number; at: string } | undefined> {
  const { rows } = await world.db.raw<{ rows: { pid: number; at: string }[] }>(
    `select pid, query_start::text as at from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and classid = ${attesterLock} and datname = current_database()`,
  )
  return rows[0]
}
const leader = async () => (await readLeader())?.pid

/** Waits until whoever asks has come round to something new, and has left out what he had no turn for. */
async function untilRoundsArePast(): Promise<void> {
  const probe = await insertBurned()
  await untilAttested(probe, await tell(probe))
}

describe('a burn', () => {
  test('gets its message, and who waits for it is told', async () => {
    const burn = await burned()
    const announced: string[] = []
    const unsubscribe = listener.subscribe((change) => {
      if (change?.id === burn.operationId) announced.push(change.state)
    })
    const nonce = await tell(burn)
    await untilAttested(burn, nonce)
    await world.waitUntil(() => Promise.resolve(announced.includes('attested')))
    unsubscribe()
    expect(await burnOf(burn)).toMatchObject({ eventNonce: nonce, attestation: '0x01' })
  })

  test('beside another one in the same bundle gets its own, by the same question', async () => {
    const [one, two] = [await submit(), await submit()]
    await world.round()
    service.turn('broken')
    const nonces = [await tell(two), await tell(one)]
    service.turn('fine')
    await untilAttested(one, nonces[1] ?? '')
    expect(await nonceOf(two)).toBe(nonces[0])
    await untilRoundsArePast()
    const before = service.askedAbout(await hashOf(one))
    await untilRoundsArePast()
    expect(service.askedAbout(await hashOf(one))).toBe(before)
  })

  test('alike another one in the same bundle gets a message of its own', async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    const [one, two] = [await submit(wallet), await submit(wallet)]
    await world.round()
    const first = await tell(one)
    await world.waitUntil(async () => [await nonceOf(one), await nonceOf(two)].includes(first))
    const second = await tell(two)
    const both = async () => [await nonceOf(one), await nonceOf(two)]
    await world.waitUntil(async () => !(await both()).includes(undefined))
    expect((await both()).sort()).toEqual([first, second].sort())
  })

  test('does not get the message of another one', async () => {
    const burn = await burned()
    const { address } = burn.wallet
    const stranger = `0x${'77'.repeat(20)}`
    const others = [
      { recipient: address, units: usdcUnits + 1n, destinationDomain: 6 },
      { recipient: stranger, units: usdcUnits, destinationDomain: 6 },
      { recipient: address, units: usdcUnits, destinationDomain: 0 },
    ]
    const hash = await hashOf(burn)
    for (const other of others) service.tell(hash, attest(world, other).message)
    await untilAsked(hash, service.askedAbout(hash) + 2)
    expect(await burnOf(burn)).toMatchObject({ message: null, eventNonce: null })
    await untilAttested(burn, await tell(burn))
  })

  test('is not asked about while its block is gone, though it is attested', async () => {
    service.turn('broken')
    const burn = await burned()
    const nonce = await tell(burn)
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.book()
    expect(await world.row(burn.operationId)).toMatchObject({ state: 'signed' })
    service.turn('fine')
    await untilRoundsArePast()
    const before = service.asked.length
    await untilRoundsArePast()
    const hash = await hashOf(burn)
    expect(service.asked.slice(before).filter((question) => question.includes(hash))).toEqual([])
    expect(await nonceOf(burn)).toBeUndefined()
    await world.round()
    await untilAttested(burn, nonce)
  })

  test('that failed on the chain is not asked about', async () => {
    const burn = await insertBurned()
    await world.db('operation').where({ id: burn.operationId }).update({ success: false })
    await untilRoundsArePast()
    const before = service.askedAbout(await hashOf(burn))
    await untilRoundsArePast()
    expect(service.askedAbout(await hashOf(burn))).toBe(before)
  })
})

describe('a service', () => {
  const warnings = () => world.told.filter(({ message }) => message.endsWith('does not answer'))

  test('that refuses is asked again until it answers, and is complained of once', async () => {
    const before = warnings().length
    service.turn('broken')
    const burn = await burned()
    const hash = await hashOf(burn)
    await untilAsked(hash, 3)
    const nonce = await tell(burn)
    expect(await nonceOf(burn)).toBeUndefined()
    service.turn('fine')
    await untilAttested(burn, nonce)
    expect(warnings()).toHaveLength(before + 1)
  })

  test('that is silent about one transaction holds up no other', async () => {
    const [slow, quick] = [await insertBurned(), await insertBurned()]
    const hash = await hashOf(slow)
    service.turn('silent', hash)
    await untilAsked(hash, 1)
    await untilAttested(quick, await tell(quick))
    expect(await nonceOf(slow)).toBeUndefined()
    const nonce = await tell(slow)
    service.turn('fine', hash)
    await untilAttested(slow, nonce)
  })

  test('that is silent has no more than 16 questions to answer at once, and gets to all', async () => {
    await stopAttester()
    const burns: Burn[] = []
    for (let i = 0; i < 20; i++) burns.push(await insertBurned())
    service.turn('silent')
    stopAttester = startAttester()
    await world.waitUntil(() => Promise.resolve(service.mostHeld() >= 16))
    const before = await readLeader()
    await world.waitUntil(async () => (await readLeader())?.at !== before?.at)
    expect(service.mostHeld()).toBe(16)
    const nonces = await Promise.all(burns.map((burn) => tell(burn)))
    service.turn('fine')
    for (const [i, burn] of burns.entries()) await untilAttested(burn, nonces[i] ?? '')
  })
})

describe('a message that has expired', () => {
  const expiresAt = bookedBlock
  const renewals = (nonce: string) =>
    service.asked.filter((question) => question === `POST /v2/reattest/${nonce}`).length

  async function expired(): Promise<{ burn: Burn; nonce: string }> {
    const burn = await insertBurned()
    const nonce = await tell(burn, { expiresAt })
    await world.waitUntil(() => Promise.resolve(renewals(nonce) > 0))
    expect(await burnOf(burn)).toMatchObject({ eventNonce: nonce })
    return { burn, nonce }
  }
  const submitMint = (burn: Burn, nonce: string) => {
    const { chainId } = world.registry.get(destination)
    const { intentId, wallet, units } = burn
    const owning = { intentId, sequence: 1, accountId: wallet.accountId, walletId: wallet.id }
    const order = { ...owning, kind: 'mint' as const, nonce, input: { units: units.toString() } }
    return world.submit({ ...order, chainId })
  }

  test('is attested anew, under the same nonce', async () => {
    const { burn, nonce } = await expired()
    const { message } = (await burnOf(burn)) ?? {}
    await tell(burn, { nonce })
    await world.waitUntil(async () => (await burnOf(burn))?.message !== message)
    expect(await nonceOf(burn)).toBe(nonce)
    const before = renewals(nonce)
    await untilRoundsArePast()
    expect(renewals(nonce)).toBe(before)
  })

  test('is asked for anew as long as it takes, also after the intent has ended', async () => {
    const { burn, nonce } = await expired()
    const over = { status: 'failed', error: JSON.stringify({ code: 'BRIDGE_TIMEOUT' }) }
    await world.db('intent').where({ id: burn.intentId }).update(over)
    await world.waitUntil(() => Promise.resolve(renewals(nonce) >= 3))
  })

  test('is left alone once its mint is signed', async () => {
    const { burn, nonce } = await expired()
    const { operationId } = await submitMint(burn, nonce)
    await world
      .db('operation')
      .where({ id: operationId })
      .update({ state: 'signed', payload: '{}' })
    await untilRoundsArePast()
    const before = renewals(nonce)
    await untilRoundsArePast()
    expect(renewals(nonce)).toBe(before)
    const again = { state: 'deferred', code: 'BRIDGE_TIMEOUT', retry_after: new Date() }
    await world.db('operation').where({ id: operationId }).update(again)
    await world.waitUntil(() => Promise.resolve(renewals(nonce) > before))
  })

  test('gives way to that of the transaction in which a reorg has mined the burn again', async () => {
    const { burn, nonce } = await expired()
    const tx_hash = hexlify(randomBytes(32))
    await world.db('operation').where({ id: burn.operationId }).update({ tx_hash })
    await untilAttested(burn, await tell(burn))
    expect(await nonceOf(burn)).not.toBe(nonce)
  })

  test('that lasts a block longer is left alone', async () => {
    const burn = await insertBurned()
    const nonce = await tell(burn, { expiresAt: bookedBlock + 1n })
    await untilAttested(burn, nonce)
    await untilRoundsArePast()
    expect(renewals(nonce)).toBe(0)
  })
})

describe('of two processes', () => {
  test('one asks, and the other goes on when that one ends', async () => {
    await world.waitUntil(async () => (await leader()) !== undefined)
    const first = await leader()
    const stopSecond = startAttester()
    try {
      await untilRoundsArePast()
      expect(await leader()).toBe(first)
      await stopAttester()
      const burn = await insertBurned()
      await untilAttested(burn, await tell(burn))
      expect(await leader()).not.toBe(first)
    } finally {
      await stopSecond()
    }
  })

  test('one goes on when its session was lost', async () => {
    await world.waitUntil(async () => (await leader()) !== undefined)
    await world.db.raw('select pg_terminate_backend(?)', [(await leader()) ?? 0])
    await untilRoundsArePast()
  })
})

test('a burn whose mint is final is closed', async () => {
  const burn = await insertBurned()
  const nonce = await tell(burn)
  await untilAttested(burn, nonce)
  const row = () => world.db('burn').where({ operation_id: burn.operationId }).first<object>()
  const { intentId, wallet, units } = burn
  const { chainId } = world.chain
  const owning = {
    intentId,
    sequence: 1,
    accountId: wallet.accountId,
    walletId: wallet.id,
    chainId,
  }
  const order = { ...owning, kind: 'mint' as const, nonce, input: { units: units.toString() } }
  const { operationId } = await world.submit(order)
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
