import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { signOnce } from '../../../signer/sign.js'
import {
  resubmitNow,
  expectNoGaps,
  forgetSent,
  mineAt,
  replaceStuck,
} from '../../relayer/world/scenes/stuck.js'
import { createWorld, usdcUnits, type Lend, type World } from '../../relayer/world/fixture.js'

const OPERATIONS = 8
const STEPS = 60
const SETTLED_BLOCKS = 20
const LAST_ROUNDS = 60
const GWEI = 1_000_000_000n
const seed = process.env.REPLACING_SEED ?? randomBytes(4).toString('hex')

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let drawn = 0
/** A whole number below `limit`, derived from the seed. */
function draw(limit: number): number {
  const hash = createHash('sha256').update(`${seed} ${drawn++}`)
  return hash.digest().readUInt32BE(0) % limit
}

describe(`random events to the sends of a nonce (REPLACING_SEED=${seed})`, () => {
  let world: World
  let lends: Lend[]
  const refused = new Set<string>()
  let replaced = 0

  beforeAll(async () => {
    world = await createWorld({
      senderCount: 2,
      changes: { stuckAfter: { seconds: 0, blocks: 1 } },
    })
  })
  afterAll(() => world?.stop())

  const sign = async () => {
    await resubmitNow(world)
    const deferred = await world.db('operation').where({ state: 'deferred' }).pluck<string[]>('id')
    for (const lend of lends) if (deferred.includes(lend.operationId)) await world.retryNow(lend)
    await signOnce(world.signer, world.signer.chains.byId(0))
  }
  const broadcast = async () => {
    forgetSent(world)
    await world.broadcast()
  }
  const mine = async (times: bigint) => {
    await mineAt(world, times * GWEI)
    await world.index()
  }
  /** A random send of each open transaction reaches the node, after its pool was emptied. */
  const sendAny = async () => {
    const open = (await world.transactions()).filter(({ state }) => state === 'open')
    const sends = (await world.sends()).filter(({ tx_id }) => open.some(({ id }) => id === tx_id))
    await world.rpc('anvil_dropAllTransactions')
    for (const { sender } of open) {
      const ids = open.filter((tx) => tx.sender === sender).map(({ id }) => id)
      const own = sends.filter(({ tx_id }) => tx_id === ids[0])
      const { raw } = own[draw(own.length)] ?? { raw: '0x' }
      await world.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined)
    }
  }
  const reorg = async () => {
    await world.rpc('anvil_reorg', [1 + draw(3), []])
    await mine(1n)
  }
  const refuseNewest = async () => {
    const { raw } = (await world.sends()).at(-1) ?? { raw: '' }
    refused.add(raw)
    for (let i = 0; i < 3; i++) await broadcast()
  }
  const replace = async () => {
    const before = (await world.sends()).length
    await replaceStuck(world)
    replaced += (await world.sends()).length - before
  }
  /** Mines blocks without our transactions. */
  const starve = async () => {
    await broadcast()
    await world.rpc('anvil_dropAllTransactions')
    await mine(4n)
    await replace()
  }
  const order = async () => {
    const wallet = wallets.pop()
    if (wallet) lends.push(await world.lend(wallet, usdcUnits))
  }
  const steps = [
    ...[order, order, sign, sign, broadcast, broadcast, replace, starve, starve],
    ...[() => mine(1n), () => mine(1n), () => mine(4n), () => mine(8n), sendAny, reorg],
    ...[refuseNewest, () => world.restartDriver()],
  ]
  let wallets: Awaited<ReturnType<World['createWallets']>>

  const isDone = async () => {
    const rows = await Promise.all(lends.map(({ operationId }) => world.row(operationId)))
    const isOpen = (await world.transactions()).some(({ state }) => state === 'open')
    return !isOpen && rows.every((row) => row?.state === 'confirmed' || row?.state === 'final')
  }

  test('every operation is executed once, and no nonce is skipped', async () => {
    wallets = await world.createWallets(OPERATIONS, usdcUnits)
    await world.mine(SETTLED_BLOCKS)
    await world.index()
    lends = []
    world.proxy.set(({ params: [raw] }) =>
      refused.has(String(raw))
        ? { refuse: { code: -32_000, message: 'exceeds block gas limit' } }
        : undefined,
    )
    for (let i = 0; i < STEPS; i++) await (steps[draw(steps.length)] ?? sign)()
    world.proxy.set(undefined)
    while (wallets.length > 0) await order()
    let rounds = 0
    while (!(await isDone()) && rounds++ < LAST_ROUNDS) {
      await sign()
      await broadcast()
      await mine(1n)
      await replace()
    }
    process.stdout.write(`replacing ${seed}: ${replaced} replaced, ${rounds} rounds to the end\n`)
    expect(await isDone()).toBe(true)
    for (const { wallet, operationId } of lends) {
      const deposited = await world.deposited(wallet.address)
      expect(deposited >= usdcUnits && deposited < usdcUnits + 100n).toBe(true)
      expect(await world.usdcOf(wallet.address)).toBe(0n)
      const row = await world.row(operationId)
      const at = { ...(await world.rpc<MinedReceipt>('eth_getTransactionReceipt', [row?.tx_hash])) }
      expect(at.blockHash).toBe(row?.block_hash)
    }
    await expectNoGaps(world)
  })
})

type MinedReceipt = { blockHash: string }
