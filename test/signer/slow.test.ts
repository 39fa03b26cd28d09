import { afterEach, describe, expect, test } from 'vitest'
import { listenToOperations } from '../../db/client/listen.js'
import { watchQueue } from '../../operations/queue.js'
import { runSigner } from '../../signer/sign.js'
import { createWorld, usdcUnits, type Lend, type World } from '../relayer/world/fixture.js'
import { sendersOf, setBalance, signAll, walletsOfEachSender } from '../relayer/world/gas.js'
import { simulatedIn } from '../relayer/world/simulated.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'

let world: World
let stop: () => Promise<unknown> = () => Promise.resolve()
afterEach(async () => {
  world.proxy.set(undefined)
  await stop()
  stop = () => Promise.resolve()
  await world?.stop()
})

function startSigner(): void {
  const stopping = new AbortController()
  const { signal } = stopping
  const listener = listenToOperations(world.database.urlAs('steward_signer'), signal)
  const running = runSigner(
    { ...world.signer, patienceMs: 300 },
    watchQueue(listener, signal, ['queued']),
    signal,
  )
  stop = () => {
    stopping.abort()
    return running
  }
}

/** Blocks the simulations of the wallets, or only those of the given units, until they are released. */
function holdEstimates({ address }: StoredWallet, units?: bigint) {
  let letGo: () => void = () => undefined
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  const held = { count: 0, letGo }
  const word = units?.toString(16).padStart(64, '0') ?? ''
  world.proxy.set(async (call) => {
    const { data } = (call.params[0] ?? {}) as { data?: string }
    const isHeld = simulatedIn(call).includes(address) && data?.includes(word)
    if (!isHeld) return undefined
    held.count += 1
    await gate
    return undefined
  })
  return held
}

const lendFrom = async (wallets: StoredWallet[]): Promise<Lend[]> => {
  const lends: Lend[] = []
  for (const wallet of wallets) lends.push(await world.lend(wallet, usdcUnits))
  return lends
}

const stateOf = async ({ operationId }: Lend) => (await world.row(operationId))?.state
const areSigned = async (lends: Lend[]) =>
  (await Promise.all(lends.map(stateOf))).every((state) => state === 'signed')
const hasEnded = async (lend: Lend) =>
  ['deferred', 'rejected'].includes((await stateOf(lend)) ?? '') || (await areSigned([lend]))

/** Index of a log entry, Infinity when it is missing. */
function placeOf(message: string, holds: (facts: object) => boolean = () => true): number {
  const place = world.logs.findIndex((one) => one.message === message && holds(one.facts))
  return place < 0 ? Infinity : place
}
const signedBy = (sender: string) =>
  placeOf('bundle signed', (facts) => (facts as { sender: string }).sender === sender)
const signedAt = ({ operationId }: Lend) =>
  placeOf('bundle signed', (facts) =>
    (facts as { operations: string[] }).operations.includes(operationId),
  )

const settle = async () => {
  await world.broadcast()
  await world.mine()
  await world.index()
}

describe('an unanswered estimate', () => {
  test('does not delay the operations claimed with it', async () => {
    world = await createWorld({ senderCount: 1 })
    const wallets = await world.createWallets(6, usdcUnits)
    const held = holdEstimates(wallets[0] as StoredWallet)
    const [poisoned, ...lends] = (await lendFrom(wallets)) as [Lend, ...Lend[]]
    startSigner()
    await world.waitUntil(() => areSigned(lends))
    held.letGo()
    await world.waitUntil(() => hasEnded(poisoned))
    // They were signed before the slow one failed.
    expect(signedAt(lends[0] as Lend)).toBeLessThan(placeOf('operation not prepared'))
    expect(new Set(lends.map(signedAt)).size).toBe(1)
    expect(signedAt(lends[0] as Lend)).toBeLessThan(signedAt(poisoned))
    await world.retryNow(poisoned)
    await world.waitUntil(() => areSigned([poisoned]))
    await settle()
    for (const { address } of wallets) expect(await world.deposited(address)).toBe(usdcUnits)
  })

  test('delays neither its sender nor another one', async () => {
    world = await createWorld({ senderCount: 2 })
    const first = await world.createWallet(usdcUnits)
    const wallets = await walletsOfEachSender(world, 11)
    const held = holdEstimates(first)
    startSigner()
    const [poisoned] = (await lendFrom([first])) as [Lend]
    await world.waitUntil(() => Promise.resolve(held.count > 0))
    const lends = await lendFrom(wallets)
    await world.waitUntil(() => areSigned(lends))
    held.letGo()
    for (const sender of await sendersOf(world, lends)) {
      expect(signedBy(sender)).toBeLessThan(placeOf('operation not prepared'))
    }
    expect(new Set(await sendersOf(world, lends))).toEqual(new Set(world.senders))
    await world.waitUntil(() => hasEnded(poisoned))
  })

  test('is not overtaken by a later operation of its wallet', async () => {
    world = await createWorld({ senderCount: 2 })
    const [wallet, ...others] = await world.createWallets(4, 6n * usdcUnits)
    if (!wallet) throw new Error('No wallet.')
    const held = holdEstimates(wallet, usdcUnits)
    const first = await world.lend(wallet, usdcUnits)
    const second = await world.lend(wallet, 2n * usdcUnits)
    const lends = await lendFrom(others)
    startSigner()
    await world.waitUntil(() => Promise.resolve(held.count > 0))
    const third = await world.lend(wallet, 3n * usdcUnits)
    await world.waitUntil(() => areSigned(lends))
    held.letGo()
    const own = [first, second, third]
    await world.waitUntil(() => areSigned(own))
    const places = own.map(signedAt)
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(signedAt(lends[0] as Lend)).toBeLessThan(signedAt(first))
    await settle()
    const ids = own.map(({ operationId }) => operationId)
    const order = await world
      .db('operation')
      .whereIn('id', ids)
      .orderBy(['block_number', 'log_index'])
      .pluck<string[]>('id')
    expect(order).toEqual(ids)
  })
})

describe('an operation of a bundle', () => {
  test('that cannot be signed is left out, and the others are signed', async () => {
    world = await createWorld({ senderCount: 1 })
    const lends = await lendFrom(await world.createWallets(7, usdcUnits))
    const broken = lends[3] as Lend
    await world
      .db('wallet_secret')
      .where({ wallet_id: broken.wallet.id })
      .update({ sealed: Buffer.alloc(113, 1) })
    await world.sign()
    await settle()
    expect(await world.row(broken.operationId)).toMatchObject({
      ...{ state: 'deferred', code: 'INTERNAL', payload: null, tx_id: null },
    })
    const sound = lends.filter((one) => one !== broken)
    for (const { wallet } of sound) expect(await world.deposited(wallet.address)).toBe(usdcUnits)
    expect(await world.transactions()).toHaveLength(1)
  })

  test('beyond the gas of the sender is left out, and the sender signs those that it can pay', async () => {
    world = await createWorld({ senderCount: 1 })
    const [sender = ''] = world.senders
    const wallets = await world.createWallets(9, usdcUnits)
    await lendFrom(wallets.slice(0, 1))
    await world.sign()
    const { wei } = await world
      .db('chain_tx as t')
      .join('chain_tx_send as s', 's.tx_id', 't.id')
      .first<{ wei: string }>(world.db.raw('t.gas_limit * s.max_fee as wei'))
    await setBalance(world, sender, 6n * BigInt(wei))
    const lends = await lendFrom(wallets.slice(1))
    await signAll(world)
    const states = await Promise.all(lends.map(stateOf))
    const signed = states.filter((state) => state === 'signed')
    expect(signed.length).toBeGreaterThanOrEqual(4)
    expect(states.filter((state) => state === 'deferred')).toHaveLength(8 - signed.length)
    await settle()
    for (const [i, { address }] of wallets.slice(1).entries()) {
      expect(await world.deposited(address)).toBe(states[i] === 'signed' ? usdcUnits : 0n)
    }
  })
})

describe('estimates', () => {
  test('are sent in requests of their own and delay no other call', async () => {
    world = await createWorld({ senderCount: 1 })
    const client = world.createClient()
    const before = world.proxy.load.total
    const [sender] = world.senders
    const estimate = () => client.send('eth_estimateGas', [{ from: sender, to: sender }])
    const count = () => client.send('eth_getTransactionCount', [sender, 'latest'])
    await Promise.all([count(), estimate(), count(), estimate(), count()])
    expect(world.proxy.load.total - before).toBe(3)
  })
})
