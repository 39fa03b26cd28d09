import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { resumeWork, pauseWork } from '../../../db/pauses.js'
import { ensureRefills } from '../../../signer/senders/keys.js'
import { refillOnce, runRefills, type RefillTools } from '../../../signer/senders/refill.js'
import { createWorld, usdcUnits, type World } from '../../relayer/world/fixture.js'
import {
  ETHER,
  isOutOfGas,
  sendersOf,
  refusesOverdrafts,
  setBalance,
  signAll,
  walletsOfEachSender,
} from '../../relayer/world/gas.js'

const HIGHEST = ETHER / 200n
/** Wei, so high that 400 transactions cost more than `HIGHEST` in every block of a test. */
const BASE_FEE = '0x5f5e100'
const limits = { highestWei: HIGHEST, dailyWei: ETHER, reserveWei: ETHER / 100n }

let world: World
let others: Db[]
beforeEach(async () => {
  world = await createWorld({ senderCount: 2 })
  others = []
  await ensureRefills(world.signerDb, world.treasury, [world.chain.chainId])
  for (const sender of [...world.senders, world.treasury.address]) {
    await setBalance(world, sender, ETHER)
  }
  await world.rpc('anvil_setNextBlockBaseFeePerGas', [BASE_FEE])
  await world.mine()
  await world.index()
})
afterEach(async () => {
  for (const db of others) await db.destroy()
  await world?.stop()
})

type LimitChanges = Partial<typeof limits>

/** A signer process that has just started, without state. */
function createRefiller(changes: LimitChanges = {}): RefillTools {
  const db = connect(world.database.urlAs('steward_signer'), 3)
  others.push(db)
  const { chains, keyring } = world.createSigner('refiller')
  const own = { ...limits, ...changes }
  const all = { 'ethereum-sepolia': own, 'arbitrum-sepolia': own, 'base-sepolia': own }
  return { db, chains, keyring, log: world.log, limits: all, reported: new Set(), lookMs: 50 }
}

const look = (tools: RefillTools) => refillOnce(tools, tools.chains.byId(world.chain.chainId))

const drain = async (...senders: string[]) => {
  for (const sender of senders) await setBalance(world, sender, 0n)
}

const transfers = async () => {
  const rows = await world
    .db('chain_tx')
    .where({ sender: world.treasury.address })
    .orderBy('nonce')
    .select<{ nonce: bigint; state: string; value_wei: string }[]>('nonce', 'state', 'value_wei')
  return rows.map((row) => ({ ...row, value_wei: BigInt(row.value_wei) }))
}

const sendAndIndex = async () => {
  world.driver().sentAt.clear()
  await world.broadcast()
  await world.mine()
  await world.index()
}

const alarms = () => world.logs.filter(({ level }) => level === 'error')

describe('a sender with little gas', () => {
  test('gets one transfer from repeated checks, and signs again', async () => {
    const [sender = ''] = world.senders
    await drain(sender)
    const tools = createRefiller()
    expect(await look(tools)).toBe(false)
    expect(await isOutOfGas(world, sender)).toBe(true)
    expect(await look(tools)).toBe(false)
    await sendAndIndex()
    expect(await world.ethOf(sender)).toBe(HIGHEST)
    expect(await look(tools)).toBe(true)
    expect(await isOutOfGas(world, sender)).toBe(false)
    expect(await transfers()).toEqual([{ nonce: 0n, state: 'mined', value_wei: HIGHEST }])
    expect(alarms()).toEqual([])

    const wallets = await walletsOfEachSender(world, 8)
    const lends = await Promise.all(wallets.map((wallet) => world.lend(wallet, usdcUnits)))
    await signAll(world)
    // The treasury is a sender on this chain, and includes no operation.
    expect(new Set(await sendersOf(world, lends))).toEqual(new Set(world.senders))
    await sendAndIndex()
    for (const { address } of wallets) expect(await world.deposited(address)).toBe(usdcUnits)
  })

  test('gets nothing while its chain is paused, and one transfer afterwards', async () => {
    const [sender = ''] = world.senders
    const target = { scope: 'chain', subject: String(world.chain.chainId) } as const
    const order = { by: 'alice', why: 'a key may have leaked' }
    await drain(sender)
    const tools = createRefiller()
    await pauseWork(world.db, target, order)
    expect(await look(tools)).toBe(false)
    expect(await transfers()).toEqual([])
    await resumeWork(world.db, target, order)
    expect(await look(tools)).toBe(false)
    expect(await transfers()).toHaveLength(1)
    expect(alarms()).toEqual([])
  })

  test('gets nothing while it has more than a quarter of its target', async () => {
    const [sender = ''] = world.senders
    await setBalance(world, sender, HIGHEST / 3n)
    expect(await look(createRefiller())).toBe(true)
    await setBalance(world, sender, HIGHEST / 5n)
    expect(await look(createRefiller())).toBe(false)
    expect(await transfers()).toMatchObject([{ value_wei: HIGHEST - HIGHEST / 5n }])
  })

  test('is refilled when its open transactions may use up its balance', async () => {
    const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await signAll(world)
    const [sender = ''] = await sendersOf(world, [lend])
    const { wei } = await world
      .db('chain_tx as t')
      .join('chain_tx_send as s', 's.tx_id', 't.id')
      .first<{ wei: string }>(world.db.raw('t.gas_limit * s.max_fee as wei'))
    await setBalance(world, sender, BigInt(wei) + HIGHEST / 5n)
    expect(await look(createRefiller())).toBe(false)
    expect(await transfers()).toMatchObject([{ value_wei: HIGHEST - HIGHEST / 5n }])
  })

  test('gets the stored transfer from the driver, once, after its signer died', async () => {
    const [sender = ''] = world.senders
    await drain(sender)
    await look(createRefiller())
    await world.restartDriver()
    expect(await look(createRefiller())).toBe(false)
    await sendAndIndex()
    await look(createRefiller())
    await sendAndIndex()
    expect(await transfers()).toHaveLength(1)
    expect(await world.ethOf(sender)).toBe(HIGHEST)
  })

  test('gets one transfer from several concurrent signers', async () => {
    await drain(...world.senders)
    const tools = [createRefiller(), createRefiller(), createRefiller()]
    await Promise.all(tools.map(look))
    expect(await transfers()).toHaveLength(2)
    await sendAndIndex()
    await Promise.all(tools.map(look))
    expect(await transfers()).toHaveLength(2)
    for (const sender of world.senders) expect(await world.ethOf(sender)).toBe(HIGHEST)
  })

  test('gets no second transfer when a reorg removes the first one, indexed or not', async () => {
    const [sender = ''] = world.senders
    await drain(sender)
    await look(createRefiller())
    await sendAndIndex()
    await world.rpc('anvil_reorg', [1, []])
    expect(await world.ethOf(sender)).toBe(0n)
    // The database still has it in a block.
    expect(await transfers()).toMatchObject([{ state: 'mined' }])
    expect(await look(createRefiller())).toBe(false)
    await world.mine()
    await world.index()
    expect(await look(createRefiller())).toBe(false)
    await sendAndIndex()
    expect(await transfers()).toMatchObject([{ state: 'mined' }])
    expect(await world.ethOf(sender)).toBe(HIGHEST)
  })
})

describe('the treasury', () => {
  test('stays within its daily limit, and the refusal is logged once', async () => {
    const [sender = '', other = ''] = world.senders
    const tools = createRefiller({ dailyWei: HIGHEST })
    await drain(sender)
    await look(tools)
    await sendAndIndex()
    await drain(other)
    await look(tools)
    await look(tools)
    expect(await transfers()).toHaveLength(1)
    expect(alarms()).toHaveLength(1)
    expect(alarms()).toMatchObject([
      {
        message: 'sender not refilled',
        facts: {
          sender: other,
          reason: 'REFILL_DAILY_ETH_ARBITRUM_SEPOLIA is used up. Raise it or wait.',
        },
      },
    ])
    await world.db('chain_tx').update({ created_at: world.db.raw(`now() - interval '25 hours'`) })
    await look(tools)
    await sendAndIndex()
    expect(await world.ethOf(other)).toBe(HIGHEST)
    expect(await look(tools)).toBe(true)
    await drain(other)
    await look(createRefiller({ dailyWei: 0n }))
    expect(alarms()).toHaveLength(2)
  })

  test('refills no sender whose key the signer cannot open', async () => {
    const [known = ''] = world.senders
    const address = Wallet.createRandom().address
    const columns = ['chain_id', 'sender', 'kek_id', 'sealed_key'].join()
    await world.signerDb.raw(
      `insert into sender (${columns}) select chain_id, ?, kek_id, sealed_key from sender where sender = ?`,
      [address, known],
    )
    await look(createRefiller())
    expect(await transfers()).toEqual([])
    expect(await world.ethOf(address)).toBe(0n)
    expect(alarms()).toMatchObject([{ message: 'sender not refilled', facts: { sender: address } }])
  })

  test('keeps its reserve, and sends only the excess', async () => {
    const [sender = '', other = ''] = world.senders
    const { address } = world.treasury
    await setBalance(world, address, limits.reserveWei + HIGHEST + HIGHEST / 2n)
    await drain(sender, other)
    world.proxy.set(refusesOverdrafts(world))
    const tools = createRefiller()
    await look(tools)
    const sent = await transfers()
    expect(sent[0]).toMatchObject({ value_wei: HIGHEST })
    expect(sent[1]?.value_wei).toBeLessThan(HIGHEST / 2n)
    await sendAndIndex()
    expect(world.proxy.counts).toEqual({})
    expect(await world.ethOf(address)).toBeGreaterThanOrEqual(limits.reserveWei)
    await drain(sender)
    const before = await transfers()
    await look(tools)
    expect(await transfers()).toHaveLength(before.length)
    expect(alarms()).toMatchObject([
      { facts: { reason: 'The treasury has too little ETH. Fund it.' } },
    ])
  })

  test('without ETH leaves all senders without gas: operations wait with that reason, and continue after it is funded', async () => {
    await drain(world.treasury.address, ...world.senders)
    const tools = createRefiller()
    await look(tools)
    await look(tools)
    expect(alarms()).toHaveLength(2)
    const wallet = await world.createWallet(usdcUnits)
    const lend = await world.lend(wallet, usdcUnits)
    await signAll(world)
    expect(await world.row(lend.operationId)).toMatchObject({
      ...{ state: 'deferred', code: 'RPC_ERROR' },
      message: `Every sender on ${world.chain.name} is out of gas.`,
    })
    await setBalance(world, world.treasury.address, ETHER)
    await look(tools)
    await sendAndIndex()
    expect(await look(tools)).toBe(true)
    await world.retryNow(lend)
    await signAll(world)
    await sendAndIndex()
    expect(await world.deposited(wallet.address)).toBe(usdcUnits)
  })
})

/** The refill loop of a signer. `waits`: the longest wait for each change, ms. */
function startLoop(tools: RefillTools) {
  const stopping = new AbortController()
  const waits: number[] = []
  let change: () => void = () => undefined
  const nextChange = (ms: number) => {
    waits.push(ms)
    return new Promise<void>((resolve) => (change = resolve))
  }
  const running = runRefills(tools, nextChange, stopping.signal)
  return {
    waits,
    announce: () => {
      change()
    },
    async stop() {
      stopping.abort()
      change()
      await running
    },
  }
}

describe('runRefills', () => {
  test('checks until all senders have enough, and then waits for a signature', async () => {
    const [sender = ''] = world.senders
    await drain(sender)
    const tools = createRefiller()
    const { waits, announce, stop } = startLoop(tools)
    await world.waitUntil(async () => (await transfers()).length > 0)
    await sendAndIndex()
    // The check that found all senders filled has ended too: the loop waits for a change.
    const isIdle = () => (waits.at(-1) ?? 0) >= 60_000
    await world.waitUntil(async () => !(await isOutOfGas(world, sender)) && isIdle())
    const checks = waits.length
    await drain(sender)
    expect(waits).toHaveLength(checks)
    announce()
    await world.waitUntil(async () => (await transfers()).length > 1)
    await stop()
    expect(await transfers()).toHaveLength(2)
  })
})
