import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { id } from 'ethers'
import type { ChainClient } from '../../../evm/connect.js'
import { readLogRange } from '../../../evm/logs/logRange.js'
import { readLogs, type LogFilter } from '../../../evm/read.js'
import { refusesWideRanges, type Decide, type RpcFault } from '../../support/faultProxy.js'
import { createWorld, usdcUnits, type World } from '../world/fixture.js'
import { executeFirst } from '../world/scenes/stranger.js'

/** Rejections by providers of a range that is too wide: by blocks, by results, by time. */
const refusals: RpcFault[] = [
  { error: { code: -32005, message: 'query returned more than 10000 results' } },
  { error: { code: -32602, message: 'Log response size exceeded. Try a range of 0x0 to 0x7' } },
  { error: { code: -32000, message: 'block range is too wide' } },
  { error: { code: -32000, message: 'exceed maximum block range: 2000' } },
  { error: { code: -32603, message: 'query timeout exceeded' } },
  { error: { code: -32062, message: 'Block range is too large' } },
]

describe('readLogRange', () => {
  let world: World
  let client: ChainClient
  let filter: LogFilter
  let head: bigint

  beforeAll(async () => {
    world = await createWorld()
    for (let i = 0; i < 5; i++) {
      await world.createWallet(usdcUnits)
      await world.mine(13)
    }
    head = BigInt(await world.rpc<string>('eth_blockNumber'))
    filter = {
      emitters: [world.chain.usdc.address],
      topics: [[id('Transfer(address,address,uint256)')]],
    }
  })
  beforeEach(() => {
    client = world.createClient()
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  const readAll = () => readLogRange(client, { from: 0n, to: head }, filter)
  const unlimited = () => readLogs(world.createClient(), { from: 0n, to: head }, filter)
  /** Number of requested ranges while a rule is in force. */
  const counting = (rule: Decide) => {
    const asked: number[] = []
    world.proxy.set((call) => {
      const [range] = call.params as { fromBlock: string; toBlock: string }[]
      if (call.method === 'eth_getLogs' && range) {
        asked.push(Number(range.toBlock) - Number(range.fromBlock) + 1)
      }
      return rule(call)
    })
    return asked
  }

  test.each(refusals)('returns all logs of a node that rejects wide ranges (%j)', async (fault) => {
    world.proxy.set(refusesWideRanges(7, fault))
    const logs = await readAll()
    world.proxy.set(undefined)
    expect(logs.length).toBeGreaterThanOrEqual(5)
    expect(logs).toEqual(await unlimited())
  })

  test('keeps the width that has worked, and tries a wider one after a while', async () => {
    world.proxy.set(refusesWideRanges(7, refusals[0] as RpcFault))
    await readLogRange(client, { from: 0n, to: 20n }, filter)
    const asked = counting(refusesWideRanges(7, refusals[0] as RpcFault))
    await readLogRange(client, { from: 0n, to: 30n }, filter)
    const [width = 0] = asked
    expect(width).toBeLessThanOrEqual(7)
    expect(asked.filter((blocks) => blocks > 7).length).toBeLessThanOrEqual(1)
    const later = counting(() => undefined)
    for (let i = 0; i < 60 && Math.max(...later) <= 50; i++) await readAll()
    expect(Math.max(...later)).toBeGreaterThan(50)
  })

  test('error: a single block is rejected, or the node does not answer', async () => {
    world.proxy.set(refusesWideRanges(0, refusals[2] as RpcFault))
    await expect(readAll()).rejects.toMatchObject({ code: 'RPC_ERROR' })
    world.proxy.set(() => 'reset')
    await expect(readAll()).rejects.toMatchObject({ code: 'RPC_ERROR' })
  })

  test('uses a narrower range in the call after a timeout', async () => {
    world.proxy.set(refusesWideRanges(60, 'http500'))
    let logs
    for (let i = 0; i < 10 && !logs; i++) logs = await readAll().catch(() => undefined)
    world.proxy.set(undefined)
    expect(logs).toEqual(await unlimited())
  })

  test('error: the node does not have the last block yet', async () => {
    const beyond = readLogRange(client, { from: 0n, to: head + 1n }, filter)
    await expect(beyond).rejects.toMatchObject({ code: 'RPC_ERROR' })
  })
})

describe('a driver whose node', () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterEach(() => world.proxy.set(undefined))
  afterAll(() => world?.stop())

  /** An operation executed by a foreign account: only the logs show it. */
  const minedByStranger = async () => {
    const wallet = await world.createWallet(4n * usdcUnits)
    await world.lend(wallet, usdcUnits)
    await world.round()
    const { operationId } = await world.lend(wallet, usdcUnits)
    await world.sign()
    const hash = await executeFirst(world, operationId)
    return { operationId, hash }
  }

  test('rejects wide ranges indexes all outcomes after a long downtime', async () => {
    const { operationId, hash } = await minedByStranger()
    await world.mine(100)
    world.proxy.set(refusesWideRanges(7, refusals[0] as RpcFault))
    await world.index()
    expect(await world.row(operationId)).toMatchObject({ state: 'final', tx_hash: hash })
  })
})
