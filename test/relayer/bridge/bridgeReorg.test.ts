import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectChain } from '../../../evm/connect.js'
import { findSignature } from '../../../operations/signing/signatures.js'
import { indexSpentKeys } from '../../../relayer/foreignExecutions.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { createBridgeWorld, dollar, type BridgeWorld } from './bridgeFixture.js'
import {
  arrived,
  bridgeRequest,
  burned,
  destination,
  expectMinted,
  lendRequest,
  mintByStranger,
  source,
  whileRefusing,
} from './bridging.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { ChainSite } from '../world/site.js'

let world: BridgeWorld
let from: ChainSite
let to: ChainSite
let wallet: StoredWallet
beforeAll(async () => {
  world = await createBridgeWorld([source, destination])
  ;[from, to] = [world.at(source), world.at(destination)]
})
beforeEach(async () => {
  wallet = await world.createWallet({ [source]: dollar })
})
afterAll(() => world?.stop())

describe('a reorg', () => {
  test('removes a burn, which is mined again and attested', async () => {
    const intent = await world.intend(wallet, bridgeRequest)
    await world.perform(intent, 1, 'bridge')
    await from.reorg(1)
    expect(await world.row(intent, 1, 'bridge')).toMatchObject({ state: 'signed' })
    expect(await world.reservation(intent, 1)).toMatchObject({ spent_block: null })
    await from.round()
    await world.attest(intent)
    await world.perform(intent, 1, 'mint')
    await expectMinted(world, intent)
  })

  test('removes a mint with its output, and both are executed again', async () => {
    const intent = await burned(world, wallet, lendRequest)
    await world.perform(intent, 1, 'mint')
    const { from_block: first } = (await world.reservation(intent, 2)) ?? {}
    await to.reorg(1)
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'signed' })
    expect(await world.reservation(intent, 2)).toMatchObject({ from_block: null })
    await to.mine(2)
    await to.round()
    const row = await expectMinted(world, intent)
    expect(row?.block_number).not.toBe(first)
    expect(await world.reservation(intent, 2)).toMatchObject({ from_block: row?.block_number })
  })

  test('of both chains removes burn and mint, and both are executed again, once', async () => {
    const intent = await burned(world, wallet, lendRequest)
    await world.perform(intent, 1, 'mint')
    await from.reorg(2)
    await to.reorg(1)
    expect(await world.row(intent, 1, 'bridge')).toMatchObject({ state: 'signed' })
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'signed' })
    await Promise.all([from.round(), to.round()])
    await expectMinted(world, intent)
    expect(await world.row(intent, 1, 'bridge')).toMatchObject({ state: 'confirmed' })
    await world.perform(intent, 2, 'deposit')
    expect(await to.held(to.contracts.aToken, wallet.address)).toBe(arrived)
  })

  test('of a foreign mint makes us mint', async () => {
    const intent = await burned(world, wallet)
    await world.submit(intent, 1, 'mint')
    await mintByStranger(world, intent)
    await to.mine()
    await to.index()
    await to.reorg(1)
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'queued' })
    await to.round()
    const row = await expectMinted(world, intent)
    expect(BigInt(row?.gas_used ?? 0)).toBeGreaterThan(0n)
  })

  test('of a foreign mint above our reverted one resubmits ours', async () => {
    const intent = await burned(world, wallet)
    await world.submit(intent, 1, 'mint')
    await to.sign()
    await whileRefusing(to, async () => {
      await to.broadcast()
      await to.mine()
    })
    await mintByStranger(world, intent)
    await to.mine()
    await to.index()
    await expectMinted(world, intent)
    await to.reorg(1)
    const row = await world.row(intent, 1, 'mint')
    expect(row).toMatchObject({ state: 'deferred', tx_id: null })
    expect(await findSignature(world.db, row?.id ?? '')).toBeUndefined()
    await world.perform(intent, 1, 'mint')
    await expectMinted(world, intent)
  })

  test('during the search for a foreign mint does not count the removed one', async () => {
    const intent = await burned(world, wallet)
    await mintByStranger(world, intent)
    await to.mine()
    await to.index()
    await world.submit(intent, 1, 'mint')
    await to.sign()
    const proxy = await startFaultProxy(to.node.url)
    const client = connectChain(to.chain, proxy.url)
    try {
      proxy.set(async ({ method, params }) => {
        if (method !== 'eth_getTransactionReceipt') return undefined
        const answer = await to.rpc(method, params)
        await to.reorg(1)
        return { answer }
      })
      const following = { endpoint: client, hasFailed: false }
      await indexSpentKeys({ ...to.driver, client, following })
    } finally {
      client.close()
      await proxy.stop()
    }
    expect(await world.row(intent, 1, 'mint')).toMatchObject({ state: 'deferred' })
    await world.perform(intent, 1, 'mint')
    await expectMinted(world, intent)
  })
})
