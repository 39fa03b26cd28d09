import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createWorld, usdcUnits, type World } from './world/fixture.js'

let world: World
beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
})
afterAll(() => world?.stop())

/** What the node is asked while something is done, by method. */
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

test('a lend alone is signed, sent and booked with few questions to the node', async () => {
  const wallet = await world.createWallet(4n * usdcUnits)
  await world.lend(wallet, usdcUnits)
  await world.round()
  const watching = await askedBy(async () => {
    await world.mine()
    await world.book()
  })
  expect(watching).not.toHaveProperty('eth_getLogs')
  const lend = await world.lend(wallet, usdcUnits)
  const signing = await askedBy(() => world.sign())
  expect(signing).toMatchObject({ eth_estimateGas: 1, eth_getTransactionCount: 1 })
  // The head, the lane's nonce, what contracts tell, the wallet's code, and the call.
  expect(sumOf(signing)).toBeLessThanOrEqual(6)
  expect(signing).not.toHaveProperty('eth_getBalance')
  const sending = await askedBy(() => world.broadcast())
  expect(sending).toEqual({ eth_sendRawTransaction: 1 })
  await world.mine()
  const booking = await askedBy(() => world.book())
  expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed' })
  const own = { eth_getLogs: 1, eth_getTransactionReceipt: 1 }
  expect(booking).toMatchObject({ ...watching, ...own })
  // The price of ETH, once a minute.
  expect(sumOf(booking)).toBeLessThanOrEqual(sumOf(watching) + sumOf(own) + 1)
})
