import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Transaction } from 'ethers'
import { resumeWork, pauseWork, type PauseTarget } from '../../db/pauses.js'
import { readUnderWay } from '../../db/underWay.js'
import { waitUntilBlocked } from '../support/blocked.js'
import { createArrival } from './bridge/crossing.js'
import { expectNoGaps, forgetSent, mineAt, replaceStuck } from './world/scenes/stuck.js'
import { createWorld, usdcUnits, type World } from './world/fixture.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'

const GWEI = 1_000_000_000n
const order = { by: 'alice', why: 'a key may have leaked' }

let world: World
let open: PauseTarget[] = []
beforeAll(async () => {
  const changes = { stuckAfter: { seconds: 0, blocks: 1 } }
  world = await createWorld({ senderCount: 1, changes })
})
afterEach(async () => {
  world.proxy.set(undefined)
  for (const target of open) await resumeWork(world.db, target, order)
  open = []
})
afterAll(() => world?.stop())

const pause = async (target: PauseTarget) => {
  await pauseWork(world.db, target, order)
  open.push(target)
}
const resume = async () => {
  for (const target of open) await resumeWork(world.db, target, order)
  open = []
}
const freeze = ({ id }: StoredWallet) => pause({ scope: 'wallet', subject: id })
const chainTarget = () => ({ scope: 'chain', subject: String(world.chain.chainId) }) as const
const everything = { scope: 'deployment', subject: '' } as const

/** Lends of new wallets, signed in one bundle. Nothing is sent. */
async function signBundle(count: number) {
  const wallets = await world.createWallets(count, usdcUnits)
  const lends = await Promise.all(wallets.map((wallet) => world.lend(wallet, usdcUnits)))
  await world.sign()
  const rows = await Promise.all(lends.map(({ operationId }) => world.row(operationId)))
  const ids = new Set(rows.map((row) => row?.tx_id))
  expect(ids.size).toBe(1)
  const [txId] = ids
  const sends = async () => (await world.sends()).filter(({ tx_id }) => tx_id === txId)
  return { lends, sends }
}
type Bundle = Awaited<ReturnType<typeof signBundle>>

const isAtNode = async (hash: string | undefined) =>
  (await world.rpc<object | null>('eth_getTransactionByHash', [hash])) !== null
/** As the relayer and the signer do in the background, over and over. */
async function settle(rounds = 3): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    forgetSent(world)
    await replaceStuck(world)
    await world.round()
  }
}
async function expectLent({ lends }: Bundle): Promise<void> {
  for (const { wallet, operationId } of lends) {
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(wallet.address)).toBe(usdcUnits)
  }
  await expectNoGaps(world)
}

describe('broadcastOpen', () => {
  test.each([
    ['the chain is paused', chainTarget],
    ['the deployment is paused', () => everything],
  ])('a stored bundle does not leave while %s, and leaves afterwards', async (_, targetOf) => {
    const bundle = await signBundle(2)
    await pause(targetOf())
    expect(await readUnderWay(world.db, targetOf())).toEqual({ signing: 0, unsent: 1, sent: 0 })
    const head = await world.rpc('eth_blockNumber')
    await settle()
    const [only, ...others] = await bundle.sends()
    expect(others).toEqual([])
    expect(await isAtNode(only?.hash)).toBe(false)
    expect(await world.rpc('eth_blockNumber')).not.toBe(head)
    await resume()
    await settle(1)
    await expectLent(bundle)
  })

  test('a bundle with a frozen member never leaves: the others are bundled again, and the frozen one waits', async () => {
    const bundle = await signBundle(3)
    const [frozen, ...others] = bundle.lends
    if (!frozen) throw new Error('Nothing was lent.')
    await freeze(frozen.wallet)
    await settle(4)
    const [first, second] = await bundle.sends()
    expect(await isAtNode(first?.hash)).toBe(false)
    const empty = Transaction.from(second?.raw)
    expect(empty).toMatchObject({ to: empty.from, data: '0x', value: 0n })
    expect(await isAtNode(second?.hash)).toBe(true)
    await expectLent({ ...bundle, lends: others })
    const waiting = { state: 'signed', tx_id: null, inclusion_failures: 0 }
    expect(await world.row(frozen.operationId)).toMatchObject(waiting)
    expect(await world.deposited(frozen.wallet.address)).toBe(0n)
    await resume()
    await settle(1)
    await expectLent(bundle)
  })

  test('higher nonces of the sender follow the freed one', async () => {
    const bundle = await signBundle(1)
    const later = await signBundle(1)
    const [frozen] = bundle.lends
    if (!frozen) throw new Error('Nothing was lent.')
    await freeze(frozen.wallet)
    await world.broadcast()
    expect(await isAtNode((await later.sends())[0]?.hash)).toBe(false)
    await settle(1)
    await expectLent(later)
    expect(await world.deposited(frozen.wallet.address)).toBe(0n)
    await resume()
    await settle(2)
    await expectLent(bundle)
  })

  test('a mint in the same transaction as a frozen funding is not lost', async () => {
    const [frozen, other] = [await world.createWallet(0n), await world.createWallet(0n)]
    const arrival = await createArrival(world, other, usdcUnits)
    const mint = await world.submit(arrival.order)
    const funding = await world.fund(frozen)
    await world.sign()
    const ids = await Promise.all(
      [mint, funding].map(async ({ operationId }) => (await world.row(operationId))?.tx_id),
    )
    expect(ids[0]).toBe(ids[1])
    await freeze(frozen)
    await settle(1)
    await world.retryNow(mint)
    await settle(2)
    expect(await world.usdcOf(other.address)).toBe(usdcUnits)
    expect(await world.usdcOf(frozen.address)).toBe(0n)
    await resume()
    await settle(1)
    expect(await world.usdcOf(frozen.address)).toBe(usdcUnits)
  })

  test('a sent transaction of a frozen wallet is neither sent again nor signed at a higher fee: an empty transfer replaces it', async () => {
    const bundle = await signBundle(1)
    const later = await signBundle(1)
    const [frozen] = bundle.lends
    if (!frozen) throw new Error('Nothing was lent.')
    await world.broadcast()
    await freeze(frozen.wallet)
    const target = { scope: 'wallet', subject: frozen.wallet.id } as const
    expect(await readUnderWay(world.db, target)).toEqual({ signing: 0, unsent: 0, sent: 1 })
    // The node forgets it.
    await world.rpc('anvil_dropAllTransactions')
    await mineAt(world, GWEI, 2)
    await world.index()
    forgetSent(world)
    await world.broadcast()
    expect(await isAtNode((await bundle.sends())[0]?.hash)).toBe(false)
    await settle(2)
    const [, second] = await bundle.sends()
    expect(Transaction.from(second?.raw)).toMatchObject({ data: '0x', value: 0n })
    await expectLent(later)
    expect(await world.deposited(frozen.wallet.address)).toBe(0n)
    await resume()
    await settle(2)
    await expectLent(bundle)
  })

  test('older bytes that are mined all the same count, once', async () => {
    const bundle = await signBundle(2)
    const [frozen] = bundle.lends
    if (!frozen) throw new Error('Nothing was lent.')
    // The node receives them, and its answer is lost.
    world.proxy.set(({ method }) => (method === 'eth_sendRawTransaction' ? 'lostReply' : undefined))
    await world.broadcast()
    world.proxy.set(undefined)
    await freeze(frozen.wallet)
    await replaceStuck(world)
    expect(await bundle.sends()).toHaveLength(2)
    await world.mine()
    await world.index()
    await expectLent(bundle)
    await resume()
    await settle()
    await expectLent(bundle)
  })

  test('a pause takes effect while a signer stores: what it stores is not sent', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    const target = { scope: 'wallet', subject: wallet.id } as const
    // The signer has asked whether the operation may leave, and waits for its sender.
    const signing = await world.db.transaction(async (trx) => {
      await trx('sender').forUpdate().select('sender')
      const running = world.sign()
      await waitUntilBlocked(world.db)
      await freeze(wallet)
      expect(await readUnderWay(world.db, target)).toEqual({ signing: 1, unsent: 0, sent: 0 })
      return { running }
    })
    await signing.running
    expect(await world.row(operationId)).toMatchObject({ state: 'signed', lease_owner: null })
    expect(await readUnderWay(world.db, target)).toEqual({ signing: 0, unsent: 1, sent: 0 })
    await settle()
    expect(await world.deposited(wallet.address)).toBe(0n)
    expect(await world.row(operationId)).toMatchObject({ state: 'signed', tx_id: null })
    await resume()
    await settle(1)
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
  })

  test('bytes that a relayer is just sending are reported as sent', async () => {
    const bundle = await signBundle(1)
    const [lend] = bundle.lends
    if (!lend) throw new Error('Nothing was lent.')
    const target = { scope: 'wallet', subject: lend.wallet.id } as const
    let reported: object | undefined
    world.proxy.set(async ({ method }) => {
      if (method !== 'eth_sendRawTransaction' || reported) return undefined
      await freeze(lend.wallet)
      reported = await readUnderWay(world.db, target)
      return undefined
    })
    await world.broadcast()
    expect(reported).toEqual({ signing: 0, unsent: 0, sent: 1 })
    await resume()
    await settle(1)
    await expectLent(bundle)
  })
})
