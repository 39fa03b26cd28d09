import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectChain, type ChainClient } from '../../../evm/connect.js'
import { createWorld, usdcUnits, type Lend, type World } from '../../relayer/world/fixture.js'
import { startSecondAddress, type SecondEndpoint } from '../../relayer/world/secondEndpoint.js'
import type { Decide } from '../../support/faultProxy.js'
import type { SignerTools } from '../../../signer/signingContext.js'

/** Enough pauses for refusals at later blocks. */
const BLOCKS = 4

describe('a refusal by one of two endpoints', () => {
  let world: World
  let other: SecondEndpoint
  let client: ChainClient
  let signer: SignerTools

  beforeAll(async () => {
    world = await createWorld()
    other = await startSecondAddress(world)
  })
  beforeEach(() => {
    const waits = { timeoutMs: 1_000, patienceMs: 200, probeMs: 50 }
    client = connectChain(world.chain, [world.proxy.url, other.proxy.url], { waits })
    const chains = { list: [client], byId: () => client }
    signer = { ...world.signer, chains, patienceMs: 500 }
  })
  afterEach(() => {
    for (const { proxy } of [world, other]) proxy.set(undefined)
    client.close()
  })
  afterAll(async () => {
    await other?.stop()
    await world?.stop()
  })

  const signAtEachBlock = async (lend: Lend) => {
    for (let i = 0; i < BLOCKS; i++) {
      await world.mine()
      await world.retryNow(lend)
      await world.sign(signer)
    }
    return world.row(lend.operationId)
  }
  const refuseAll: Decide = ({ method }) =>
    method === 'eth_estimateGas'
      ? { error: { code: 3, message: 'execution reverted', data: '0x' } }
      : undefined
  const tooMuch = async () => world.lend(await world.createWallet(usdcUnits), 2n * usdcUnits)

  test('that is wrong never ends an operation, which succeeds once the endpoint is right', async () => {
    const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    world.proxy.set(refuseAll)
    const row = await signAtEachBlock(lend)
    expect(row).toMatchObject({ state: 'deferred', code: 'DEPOSIT_FAILED', payload: null })
    const warnings = world.logs.filter(({ message }) => message === 'refusal not confirmed')
    expect(warnings.length).toBeGreaterThan(0)
    world.proxy.set(undefined)
    await world.retryNow(lend)
    await world.sign(signer)
    await world.broadcast()
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
  })

  test.each(['reset', 'silence'] as const)(
    'ends nothing while the other one is unreachable (%s)',
    async (fault) => {
      const lend = await tooMuch()
      other.proxy.set(() => fault)
      expect(await signAtEachBlock(lend)).toMatchObject({ state: 'deferred' })
      other.proxy.set(undefined)
      const isOver = async () => {
        await world.retryNow(lend)
        await world.sign(signer)
        return (await world.row(lend.operationId))?.state === 'rejected'
      }
      await world.waitUntil(isOver)
    },
  )

  test('ends nothing while the other one is not past the block of the first refusal', async () => {
    const lend = await tooMuch()
    const old = await world.rpc('eth_getBlockByNumber', ['latest', false])
    other.proxy.set(({ params }) => (params[0] === 'latest' ? { answer: old } : undefined))
    expect(await signAtEachBlock(lend)).toMatchObject({ state: 'deferred' })
  })

  test('ends the operation when the other one refuses too', async () => {
    const before = await world.transactions()
    const lend = await tooMuch()
    expect(await signAtEachBlock(lend)).toMatchObject({ state: 'rejected', payload: null })
    expect(await world.transactions()).toHaveLength(before.length)
  })
})
