import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Transaction, Wallet } from 'ethers'
import { appendSend } from '../../../operations/signing/replacing.js'
import { resumeWork, pauseWork } from '../../../db/pauses.js'
import { createReplacer } from '../../../signer/senders/replace.js'
import { forgetSent, mineAt, replaceStuck, useLend } from '../../relayer/world/scenes/stuck.js'
import { createWorld, usdcUnits, type World } from '../../relayer/world/fixture.js'

const GWEI = 1_000_000_000n
const usual = GWEI
type BlockHeader = { number: string; hash: string }
const UNDERPRICED = { code: -32_000, message: 'replacement transaction underpriced' }

describe('a transaction with a low fee', () => {
  let world: World
  const lent = useLend(() => world)

  beforeAll(async () => {
    const changes = { stuckAfter: { seconds: 0, blocks: 1 }, maxFeeCapWei: 50n * GWEI }
    world = await createWorld({ senderCount: 1, changes })
  })
  beforeEach(async () => {
    await mineAt(world, usual)
    await world.index()
    await lent.begin()
    await world.broadcast()
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  /** The base fee quadruples, in a block without our transactions. */
  const spike = async (times = 4n) => {
    await mineAt(world, times * usual)
    await world.index()
    expect(await lent.row()).toMatchObject({ state: 'signed' })
  }
  /** Indexes the newest block without its contents. */
  const indexWithoutContents = async () => {
    const head = await world.rpc<BlockHeader>('eth_getBlockByNumber', ['latest', false])
    const number = Number(head.number)
    await world.db('chain').update({ indexed_block: number, indexed_hash: head.hash })
    const { chainId } = world.chain
    await world.db('block_header').insert({ chain_id: chainId, number, hash: head.hash })
  }
  /** The base fee is back to normal. anvil dropped unminable transactions, so they are sent again. */
  const calm = async (raw?: string) => {
    await mineAt(world, usual)
    await world.index()
    if (raw) await world.rpc('eth_sendRawTransaction', [raw])
    else {
      forgetSent(world)
      await world.broadcast()
    }
    await mineAt(world, usual)
    await world.index()
  }
  const firstRaw = async () => (await lent.sends())[0]?.raw ?? ''
  const replaceInSpike = async () => {
    await spike()
    await replaceStuck(world)
    expect(await lent.sends()).toHaveLength(2)
  }

  test('is replaced with the same call under the same nonce, which is mined', async () => {
    await replaceInSpike()
    await world.broadcast()
    await mineAt(world, 4n * usual)
    await world.index()
    await lent.expectDone({ minedSend: 2 })
    const [first, second] = (await lent.sends()).map(({ raw }) => Transaction.from(raw))
    expect(second).toMatchObject({
      ...{ nonce: first?.nonce, to: first?.to, data: first?.data, gasLimit: first?.gasLimit },
      authorizationList: first?.authorizationList,
    })
    expect(await lent.row()).toMatchObject({ tx_hash: second?.hash })
  })

  test('is replaced with one that geth accepts: both fees are at least an eighth higher', async () => {
    for (let i = 0; i < 3; i++) {
      // It waits in the pool, and blocks without it are simulated.
      await world.db('chain_tx_send').whereNotNull('sent_at').update({ sent_block: 0 })
      await replaceStuck(world)
      await world.broadcast()
    }
    const fees = (await lent.sends()).map(({ raw }) => Transaction.from(raw))
    expect(fees).toHaveLength(4)
    fees.slice(1).forEach(({ maxFeePerGas, maxPriorityFeePerGas }, i) => {
      const { maxFeePerGas: fee, maxPriorityFeePerGas: tip } = fees[i] as Transaction
      expect(8n * (maxFeePerGas ?? 0n)).toBeGreaterThanOrEqual(9n * (fee ?? 0n))
      expect(maxPriorityFeePerGas).toBeGreaterThan(tip ?? 0n)
    })
    expect(world.logs.map(({ facts }) => facts)).not.toContainEqual(
      expect.objectContaining({ reason: UNDERPRICED.message }),
    )
    await mineAt(world, usual)
    await world.index()
    await lent.expectDone({ minedSend: 4 })
  })

  test('waits while gas exceeds the fee cap, logs it once, and is mined when gas is cheaper', async () => {
    await spike(60n)
    const before = world.logs.length
    for (let i = 0; i < 3; i++) await replaceStuck(world)
    const message = 'Gas on arbitrum-sepolia exceeds the fee cap of the chain.'
    const waits_for = 'GAS_PRICE'
    expect(await lent.row()).toMatchObject({ state: 'signed', message, waits_for })
    expect(await lent.sends()).toHaveLength(1)
    const errors = world.logs.slice(before).filter(({ level }) => level === 'error')
    expect(errors).toMatchObject([{ facts: { why: message } }])
    await calm()
    await lent.expectDone({ minedSend: 1 })
    expect(await lent.row()).toMatchObject({ message: null })
  })

  test('never exceeds the gas budget of its operations', async () => {
    await spike()
    const { gasLimit } = Transaction.from(await firstRaw())
    const bounded = (operationGasWei: bigint) =>
      createReplacer({ ...world.signer, operationGasWei }, world.signer.chains.byId(0))()
    await bounded(4n * usual * gasLimit)
    const message = 'Gas on arbitrum-sepolia exceeds the gas budget of an operation.'
    expect(await lent.row()).toMatchObject({ state: 'signed', message })
    expect(await lent.sends()).toHaveLength(1)

    await bounded(5n * usual * gasLimit)
    const [, second] = (await lent.sends()).map((send) => Transaction.from(send.raw))
    expect(second?.maxFeePerGas).toBe(5n * usual)
    expect(await lent.row()).toMatchObject({ message: null })
    await world.broadcast()
    await mineAt(world, 4n * usual)
    await world.index()
    await lent.expectDone({ minedSend: 2 })
  })

  test('is not replaced while its chain is paused, even by a signer that had started', async () => {
    const target = { scope: 'chain', subject: String(world.chain.chainId) } as const
    const order = { by: 'alice', why: 'a key may have leaked' }
    await spike()
    let pausing: Promise<void> | undefined
    world.proxy.set(async ({ method }) => {
      if (method === 'eth_getBalance') await (pausing ??= pauseWork(world.db, target, order))
      return undefined
    })
    await replaceStuck(world)
    expect(pausing).toBeDefined()
    world.proxy.set(undefined)
    await replaceStuck(world)
    const sends = await lent.sends()
    await resumeWork(world.db, target, order)
    expect(sends).toHaveLength(1)
    await replaceStuck(world)
    await world.broadcast()
    await mineAt(world, 4n * usual)
    await world.index()
    await lent.expectDone({ minedSend: 2 })
  })

  test('is replaced once by several signers', async () => {
    await spike()
    const signers = ['one', 'other', 'third'].map((leaseOwner) => world.createSigner(leaseOwner))
    await Promise.all(signers.map((one) => createReplacer(one, one.chains.byId(0))()))
    expect(await lent.sends()).toHaveLength(2)
    await world.broadcast()
    await mineAt(world, 4n * usual)
    await world.index()
    await lent.expectDone({ minedSend: 2 })
  })

  test("is never replaced from forged bytes: only the sender's own bytes are signed again", async () => {
    await spike()
    const raw = await firstRaw()
    const own = Transaction.from(raw)
    const stranger = Wallet.createRandom()
    const { chainId, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = own
    const call = { type: 2, chainId, nonce, to: stranger.address, gasLimit }
    const forged = await stranger.signTransaction({ ...call, maxFeePerGas, maxPriorityFeePerGas })
    await world.db('chain_tx_send').where({ raw }).update({ raw: forged })
    await expect(replaceStuck(world)).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(await lent.sends()).toHaveLength(1)
    await world.db('chain_tx_send').where({ raw: forged }).update({ raw })
    await calm()
    await lent.expectDone({ minedSend: 1 })
  })

  test('is sent by the next driver when the first one died after the storing', async () => {
    await replaceInSpike()
    await world.restartDriver()
    // The new bytes are not sent yet, so they are not stuck.
    await mineAt(world, 4n * usual, 2)
    await world.index()
    await replaceStuck(world)
    expect(await lent.sends()).toHaveLength(2)
    await world.broadcast()
    await mineAt(world, 4n * usual)
    await world.index()
    await lent.expectDone({ minedSend: 2 })
  })

  test('may be mined with the old bytes, and is then not replaced again', async () => {
    await replaceInSpike()
    await calm(await firstRaw())
    await lent.expectDone({ minedSend: 1 })
    await replaceStuck(world)
    expect(await lent.sends()).toHaveLength(2)
    const { id } = await lent.transaction()
    const more = { txId: id, n: 2, hash: '0xfe', raw: '0x', maxFeeWei: 1n }
    expect(await appendSend(world.signerDb, more)).toBe(false)
    await world.broadcast()
    await world.mine()
    await world.index()
    await lent.expectDone({ minedSend: 1 })
  })

  test('is found when an old send was mined in an already indexed block', async () => {
    await replaceInSpike()
    await world.broadcast()
    await world.rpc('anvil_dropAllTransactions')
    await mineAt(world, usual)
    await world.index()
    await world.rpc('eth_sendRawTransaction', [await firstRaw()])
    await mineAt(world, usual)
    await indexWithoutContents()
    expect(await lent.row()).toMatchObject({ state: 'signed' })
    forgetSent(world)
    await world.broadcast()
    await world.mine()
    await world.index()
    await lent.expectDone({ minedSend: 1 })
  })

  test('is mined with the new bytes after a reorg removed the old send', async () => {
    await replaceInSpike()
    await world.broadcast()
    await world.rpc('anvil_dropAllTransactions')
    await calm(await firstRaw())
    await lent.expectDone({ minedSend: 1 })
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    expect(await lent.row()).toMatchObject({ state: 'signed', success: true })
    // It is sent again first; the stuck time starts again.
    await replaceStuck(world)
    expect(await lent.sends()).toHaveLength(2)
    await world.broadcast()
    await mineAt(world, usual)
    await world.index()
    await lent.expectDone({ minedSend: 2 })
  })

  test('does not block higher nonces when it is still underpriced', async () => {
    await replaceInSpike()
    const [, second] = await lent.sends()
    world.proxy.set(({ params: [raw] }) =>
      raw === second?.raw ? { refuse: UNDERPRICED } : undefined,
    )
    const wallet = await world.createWalletUnindexed(usdcUnits)
    const next = await world.lend(wallet, usdcUnits)
    await world.index()
    await world.sign()
    await mineAt(world, usual)
    await world.rpc('eth_sendRawTransaction', [await firstRaw()])
    await world.broadcast()
    await mineAt(world, usual)
    await world.index()
    expect(await world.row(next.operationId)).toMatchObject({ state: 'confirmed', success: true })
    await lent.expectDone({ minedSend: 1 })
  })
})
