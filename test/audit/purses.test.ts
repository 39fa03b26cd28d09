import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFigures } from '../../audit/purses.js'
import { readReceipt } from '../../chains/read.js'
import { fromUnits } from '../../domain/money.js'
import { toolsOf } from './auditing.js'
import { createSettled, type Settled } from './settled.js'

let settled: Settled
beforeAll(async () => {
  settled = await createSettled()
})
afterAll(() => settled?.world.stop())

test('what a lane has paid is what the chain took from it, to the wei', async () => {
  const { world } = settled
  const [client] = world.signer.chains.list
  if (!client) throw new Error('There is no chain.')
  const figures = await readFigures(toolsOf(world, {}), client)
  const lane = figures.find(({ about }) => about.startsWith('lane '))
  const [, sender = ''] = /^lane (0x\w{40}) on /.exec(lane?.about ?? '') ?? []
  const hashes = await world
    .db('chain_tx as t')
    .join('chain_tx_send as s', 's.tx_id', 't.id')
    .where({ 't.sender': sender })
    .pluck<string[]>('s.hash')
  const receipts = (await Promise.all(hashes.map((hash) => readReceipt(client, hash)))).filter(
    (one) => one !== undefined,
  )
  const wei = receipts.reduce((sum, one) => sum + one.gasUsed * one.gasPriceWei, 0n)
  expect(wei).toBeGreaterThan(0n)
  expect(lane?.rows).toContain(`${receipts.length} transactions: ${fromUnits(wei, 18)} ETH of gas`)
  const has = BigInt(await client.send<string>('eth_getBalance', [sender, 'latest']))
  expect(lane?.chain).toBe(`${fromUnits(has, 18)} ETH`)
})
