import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, finalityBlocks, usdcUnits, type Lend, type World } from '../world/fixture.js'

describe('a deposit of a wallet without ETH', () => {
  let world: World
  let lend: Lend
  const seen: string[] = []

  beforeAll(async () => {
    world = await createWorld()
    lend = await world.lend(await world.createWallet(3n * usdcUnits), 2n * usdcUnits)
    world.proxy.set(async ({ method, params }) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      const stored = await world.db('chain_tx_send').where({ raw: params[0] })
      seen.push(`${stored.length} stored`)
      return undefined
    })
  })
  afterAll(() => world?.stop())

  test('waits in the queue until the signer claims it', async () => {
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'queued', tx_id: null })
  })

  test('is signed and stored before any node has seen it', async () => {
    await world.sign()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed' })
    expect(await world.sends()).toHaveLength(1)
    await world.broadcast()
    expect(seen).toEqual(['1 stored'])
  })

  test('is confirmed by its own log, with its gas and its units', async () => {
    await world.mine()
    await world.index()
    const row = await world.row(lend.operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '2000000' })
    const receipt = await world.rpc<{ gasUsed: string }>('eth_getTransactionReceipt', [
      row?.tx_hash,
    ])
    expect(row?.gas_used).toBe(BigInt(receipt.gasUsed).toString())
    const reservation = await world.reservation(lend.intentId)
    expect(reservation).toMatchObject({ spent_block: row?.block_number, released_at: null })
  })

  test('has moved exactly its units, and the wallet never had ETH', async () => {
    expect(await world.deposited(lend.wallet.address)).toBe(2n * usdcUnits)
    expect(await world.usdcOf(lend.wallet.address)).toBe(usdcUnits)
    expect(await world.ethOf(lend.wallet.address)).toBe(0n)
  })

  test('is final when its block is', async () => {
    await world.mine(finalityBlocks)
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'final' })
    expect(await world.transactions()).toMatchObject([{ state: 'final', nonce: 0n }])
  })

  test('is not broadcast again', async () => {
    await world.submit(lend.order)
    await world.round()
    expect(seen).toHaveLength(1)
    expect(await world.transactions()).toHaveLength(1)
  })
})
