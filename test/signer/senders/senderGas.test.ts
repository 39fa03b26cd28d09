import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Transaction } from 'ethers'
import { sumCosts } from '../../../operations/signing/senderGas.js'
import { ensureRefills } from '../../../signer/senders/keys.js'
import { refillOnce } from '../../../signer/senders/refill.js'
import { createWorld, usdcUnits, type Lend, type World } from '../../relayer/world/fixture.js'
import {
  ETHER,
  drainGas,
  isOutOfGas,
  sendersOf,
  refusesOverdrafts,
  serveBy,
  setBalance,
  signAll,
  walletsOfEachSender,
} from '../../relayer/world/gas.js'
import { simulatedIn } from '../../relayer/world/simulated.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'

let world: World
afterEach(() => world?.stop())

const lendFrom = async (count: number): Promise<Lend[]> =>
  lendAll(await world.createWallets(count, usdcUnits))

const lendInEachSender = async (count: number): Promise<Lend[]> =>
  lendAll(await walletsOfEachSender(world, count))

async function lendAll(wallets: StoredWallet[]): Promise<Lend[]> {
  const lends: Lend[] = []
  for (const wallet of wallets) lends.push(await world.lend(wallet, usdcUnits))
  return lends
}

const sendAndIndex = async () => {
  await world.broadcast()
  await world.mine()
  await world.index()
}

const expectLentOnce = async (lends: Lend[]) => {
  for (const { operationId, wallet } of lends) {
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(wallet.address)).toBe(usdcUnits)
  }
}

const warnings = () => world.logs.filter(({ message }) => message === 'sender out of gas')

describe('a sender out of gas', () => {
  beforeEach(async () => {
    world = await createWorld({ senderCount: 3 })
  })

  test.each([1, 2])(
    '%d of three: its claimed operations are signed by another sender at once',
    async (n) => {
      const dry = world.senders.slice(0, n)
      await drainGas(world, dry)
      const lends = await lendInEachSender(12)
      await signAll(world)
      const used = await sendersOf(world, lends)
      expect(used).toHaveLength(lends.length)
      for (const sender of dry) {
        expect(used).not.toContain(sender)
        expect(await isOutOfGas(world, sender)).toBe(true)
      }
      expect(warnings()).toHaveLength(n)
      await sendAndIndex()
      await expectLentOnce(lends)
      for (const { operationId } of lends) {
        expect(await world.row(operationId)).toMatchObject({ lost_leases: 0, code: null })
      }
    },
  )

  test('gets no operations while others can pay, and is logged once', async () => {
    const [dry = ''] = world.senders
    await drainGas(world, [dry])
    await lendInEachSender(12)
    await signAll(world)
    await sendAndIndex()
    const simulated: string[] = []
    world.proxy.set((call) => {
      simulated.push(...simulatedIn(call))
      return undefined
    })
    const lends = await lendFrom(12)
    await signAll(world)
    // No operation was prepared for a sender that cannot pay for it.
    expect(simulated.sort()).toEqual(lends.map(({ wallet }) => wallet.address).sort())
    expect(warnings()).toHaveLength(1)
    await sendAndIndex()
    await expectLentOnce(lends)
  })

  test('and no other sender with gas: operations wait with the reason until one can pay again', async () => {
    await drainGas(world, world.senders)
    const lends = await lendFrom(3)
    await signAll(world)
    for (const { operationId } of lends) {
      expect(await world.row(operationId)).toMatchObject({
        ...{ state: 'deferred', code: 'RPC_ERROR', payload: null, tx_id: null },
        message: `Every sender on ${world.chain.name} is out of gas.`,
        ...{ waits_for: 'SENDER_GAS', waits_since: expect.any(Date) },
      })
    }
    expect(await world.transactions()).toHaveLength(0)
    await drainGas(world, world.senders.slice(1))
    await ensureRefills(world.signerDb, world.treasury, [world.chain.chainId])
    const own = { highestWei: ETHER, dailyWei: 0n, reserveWei: 0n }
    const limits = { 'ethereum-sepolia': own, 'arbitrum-sepolia': own, 'base-sepolia': own }
    const client = world.signer.chains.byId(world.chain.chainId)
    await refillOnce({ ...world.signer, limits, reported: new Set() }, client)
    for (const lend of lends) await world.retryNow(lend)
    await signAll(world)
    expect(new Set(await sendersOf(world, lends))).toEqual(new Set(world.senders.slice(0, 1)))
    await sendAndIndex()
    await expectLentOnce(lends)
  })

  test('releases a wallet, even when its last operation there is not final', async () => {
    const wallet = await world.createWallet(3n * usdcUnits)
    const first = await world.lend(wallet, usdcUnits)
    await signAll(world)
    const second = await world.lend(wallet, usdcUnits)
    await signAll(world)
    const [sender = '', same] = await sendersOf(world, [first, second])
    expect(same).toBe(sender)
    await setBalance(world, sender, 0n)
    const third = await world.lend(wallet, usdcUnits)
    await signAll(world)
    const [other] = await sendersOf(world, [third])
    expect([undefined, sender]).not.toContain(other)
    await setBalance(world, sender, ETHER)
    await sendAndIndex()
    expect(await world.deposited(wallet.address)).toBe(3n * usdcUnits)
  })
})

describe('a sender with open transactions', () => {
  beforeEach(async () => {
    world = await createWorld({ senderCount: 2 })
  })

  const costOf = async (index: number): Promise<bigint> => {
    const { gasLimit, maxFeePerGas } = Transaction.from((await world.sends())[index]?.raw ?? '')
    return gasLimit * (maxFeePerGas ?? 0n)
  }

  test('signs no more than it can pay on top of them', async () => {
    const [sender = ''] = world.senders
    await serveBy(world, sender)
    const wallets = await world.createWallets(3, usdcUnits)
    const lends: Lend[] = []
    for (const wallet of wallets) {
      lends.push(await world.lend(wallet, usdcUnits))
      await signAll(world)
      if (lends.length === 1) await setBalance(world, sender, ((await costOf(0)) * 25n) / 10n)
    }
    world.proxy.set(refusesOverdrafts(world))
    await world.broadcast()
    expect(world.proxy.counts).toEqual({})
    expect(await sendersOf(world, lends)).toEqual([sender, sender])
    expect(await world.row(lends[2]?.operationId ?? '')).toMatchObject({ state: 'deferred' })
    await sendAndIndex()
    await setBalance(world, sender, ETHER)
    for (const lend of lends) await world.retryNow(lend)
    await signAll(world)
    await sendAndIndex()
    await expectLentOnce(lends)
  })

  test('does not count transactions of another chain, or mined ones', async () => {
    const [sender = ''] = world.senders
    await serveBy(world, sender)
    const lends = await lendFrom(1)
    await signAll(world)
    const at = { chainId: BigInt(world.chain.chainId), address: sender }
    expect(await sumCosts(world.signerDb, at, 0n)).toBe(await costOf(0))
    const foreign = { chain_id: 1, sender }
    const { kek_id, sealed_key } = await world
      .db('sender')
      .where({ sender })
      .first<{ kek_id: string; sealed_key: Buffer }>()
    await world.db('sender').insert({ ...foreign, kek_id, sealed_key })
    await world.db('chain_tx').insert({ ...foreign, nonce: 0, gas_limit: 5 })
    expect(await sumCosts(world.signerDb, at, 0n)).toBe(await costOf(0))
    await sendAndIndex()
    await expectLentOnce(lends)
    expect(await sumCosts(world.signerDb, at, 1n)).toBe(0n)
  })

  test('counts the most expensive of several sends of one nonce', async () => {
    const [sender = ''] = world.senders
    await serveBy(world, sender)
    await lendFrom(1)
    await signAll(world)
    const [{ gasLimit, maxFeePerGas }] = [Transaction.from((await world.sends())[0]?.raw ?? '')]
    const { id } = (await world.transactions())[0] ?? { id: 0n }
    const max_fee = (2n * (maxFeePerGas ?? 0n)).toString()
    const send = { tx_id: id.toString(), n: 2, hash: '0xdearer', raw: '0x', max_fee }
    await world.db('chain_tx_send').insert(send)
    const at = { chainId: BigInt(world.chain.chainId), address: sender }
    expect(await sumCosts(world.signerDb, at, 0n)).toBe(gasLimit * BigInt(max_fee))
  })

  test('leaves its wallets to another sender when it has sixteen', async () => {
    const [sender = '', other = ''] = world.senders
    await serveBy(world, sender)
    const first: Lend[] = []
    for (const wallet of await world.createWallets(16, usdcUnits)) {
      first.push(...(await lendAll([wallet])))
      await signAll(world)
    }
    await world.db('sender').update({ out_of_gas_since: null, unpaid_gas: null })
    const next = await lendFrom(4)
    await signAll(world)
    expect(new Set(await sendersOf(world, first))).toEqual(new Set([sender]))
    expect(new Set(await sendersOf(world, next))).toEqual(new Set([other]))
    await sendAndIndex()
    await expectLentOnce([...first, ...next])
  })

  test('leaves its wallets to another sender while its lowest nonce is late, unless all are late', async () => {
    const [sender = '', other = ''] = world.senders
    await serveBy(world, sender)
    const [first] = (await lendFrom(1)) as [Lend]
    await signAll(world)
    await world.db('sender').update({ out_of_gas_since: null, unpaid_gas: null })
    const makeLate = () =>
      world.db('chain_tx').update({ opened_at: world.db.raw(`now() - interval '1 hour'`) })
    await makeLate()
    const next = await lendFrom(4)
    await signAll(world)
    expect(new Set(await sendersOf(world, next))).toEqual(new Set([other]))
    await makeLate()
    const last = await lendFrom(6)
    await signAll(world)
    expect(await sendersOf(world, last)).toHaveLength(6)
    await sendAndIndex()
    await expectLentOnce([first, ...next, ...last])
  })

  test('is not late when a reorg reopens an old transaction', async () => {
    const [sender = ''] = world.senders
    await serveBy(world, sender)
    await lendFrom(1)
    await signAll(world)
    await sendAndIndex()
    await world.db('chain_tx').update({ opened_at: world.db.raw(`now() - interval '1 hour'`) })
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    const { rows } = await world.db.raw<{ rows: { state: string; fresh: boolean }[] }>(
      `select state, opened_at > now() - interval '10 minutes' as fresh from chain_tx`,
    )
    expect(rows).toEqual([{ state: 'open', fresh: true }])
  })
})

describe('two intents of one wallet with two senders', () => {
  beforeEach(async () => {
    world = await createWorld({ senderCount: 2 })
  })

  test('are each executed once when a reorg swaps their order, and no money is lost', async () => {
    const [sender = '', other = ''] = world.senders
    const wallet = await world.createWallet(0n)
    await serveBy(world, sender)
    const funding = await world.fund(wallet)
    await signAll(world)
    await sendAndIndex()
    expect(await world.row(funding.operationId)).toMatchObject({ state: 'confirmed' })
    await serveBy(world, other)
    const lend = await world.lend(wallet, usdcUnits)
    await signAll(world)
    await sendAndIndex()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await sendersOf(world, [funding, lend])).toEqual([sender, other])

    await world.rpc('anvil_reorg', [2, []])
    await world.rpc('anvil_dropAllTransactions')
    await world.mine()
    await world.index()
    const [, later] = (await world.sends()).sort((a, b) => Number(a.tx_id - b.tx_id))
    await world.rpc('eth_sendRawTransaction', [later?.raw])
    await world.mine()
    await world.index()
    // Its input is missing, so its call fails and no money moves.
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: false })
    world.driver().sentAt.clear()
    await sendAndIndex()
    expect(await world.row(funding.operationId)).toMatchObject({
      state: 'confirmed',
      success: true,
    })
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
    expect(await world.deposited(wallet.address)).toBe(0n)
    expect(await world.transactions()).toHaveLength(2)
  })
})
