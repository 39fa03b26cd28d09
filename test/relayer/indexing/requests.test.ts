import { afterAll, beforeAll, expect, test } from 'vitest'
import { readIndexedBlocks } from '../../../db/intents/reservations.js'
import { createWorld, usdcUnits, type World } from '../world/fixture.js'

let world: World
beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterAll(() => world?.stop())

/** Requests to the node during some work, by method. */
async function askedBy(act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = { ...world.proxy.asked }
  await act()
  const counts = Object.entries(world.proxy.asked).map(([method, count]) => {
    return [method, count - (before[method] ?? 0)] as const
  })
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

const sumOf = (counts: Record<string, number>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

test('a single lend is signed, sent and indexed with few requests', async () => {
  const wallet = await world.createWallet(4n * usdcUnits)
  await world.lend(wallet, usdcUnits)
  await world.round()
  const watching = await askedBy(async () => {
    await world.mine()
    await world.index()
  })
  expect(watching).not.toHaveProperty('eth_getLogs')
  const lend = await world.lend(wallet, usdcUnits)
  const signing = await askedBy(() => world.sign())
  expect(signing).toMatchObject({ eth_estimateGas: 1, eth_getTransactionCount: 2 })
  // The head, the nonces of sender and wallet, contract reads, the wallet's code, and the estimate.
  expect(sumOf(signing)).toBeLessThanOrEqual(7)
  expect(signing).not.toHaveProperty('eth_getBalance')
  const sending = await askedBy(() => world.broadcast())
  expect(sending).toEqual({ eth_sendRawTransaction: 1 })
  await world.mine()
  const indexing = await askedBy(() => world.index())
  expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed' })
  const own = { eth_getTransactionReceipt: 1, eth_getLogs: 1 }
  expect(indexing).toMatchObject({ ...watching, ...own })
  // The ETH price, once a minute.
  expect(sumOf(indexing)).toBeLessThanOrEqual(sumOf(watching) + sumOf(own) + 1)
})

test('the finalized block is read no more often than `finalityMs` allows', async () => {
  const finalizedReads = async () => {
    const before = asked
    await world.mine()
    await world.index()
    return asked - before
  }
  let asked = 0
  world.proxy.set(({ method, params }) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'finalized') asked += 1
    return undefined
  })
  expect([await finalizedReads(), await finalizedReads()]).toEqual([1, 1])
  Object.assign(world.driver(), { finalityMs: 3_600_000 })
  expect([await finalizedReads(), await finalizedReads()]).toEqual([0, 0])
})

test('the gas price of the indexed block is stored, with and without operations in it', async () => {
  const expectFeeOfHead = async () => {
    const head = await world.rpc<Record<string, string>>('eth_getBlockByNumber', ['latest', false])
    const [indexed] = await readIndexedBlocks(world.db)
    const [number, baseFeeWei] = [BigInt(head.number ?? 0), BigInt(head.baseFeePerGas ?? 0)]
    expect(indexed).toMatchObject({ number, baseFeeWei })
  }
  for (const fee of [123_456_789n, 234_567_890n]) {
    await world.lend(await world.createWallet(2n * usdcUnits), usdcUnits)
    await world.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${fee.toString(16)}`])
    await world.mine()
    await world.index()
    await expectFeeOfHead()
    await world.round()
    await expectFeeOfHead()
  }
})
