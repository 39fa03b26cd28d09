import { afterAll, beforeAll, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { readEffects } from '../../db/intents/stepEffects.js'
import { resultsOf } from '../../domain/intent/results.js'
import { createWorld, owner, usdcUnits, type World } from './world/fixture.js'
import type { StoredIntent } from '../../db/intents/intents.js'

const feed = new Interface(['function setAnswer(int256 answer)'])

let world: World
beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterAll(() => world?.stop())

test('an operation is signed, indexed and confirmed without a price, and its cost is unknown', async () => {
  const data = feed.encodeFunctionData('setAnswer', [-1n])
  await world.rpc('eth_sendTransaction', [{ from: owner, to: world.chain.ethUsdFeed, data }])
  await world.mine()
  const lend = await world.lend(await world.createWallet(2n * usdcUnits), usdcUnits)
  await world.round()
  expect(await world.row(lend.operationId)).toMatchObject({
    ...{ state: 'confirmed', success: true, units: usdcUnits.toString() },
    gas_cost_usd: null,
  })
  const effects = await readEffects(world.db, lend.intentId)
  const { plan } = await world.db('intent').where({ id: lend.intentId }).first<StoredIntent>()
  if (!plan) throw new Error('It has no plan.')
  expect(resultsOf(plan, effects)).toMatchObject({
    ...{ completedSteps: 1, totalGasCostUsd: null, transactions: [{ gasCostUsd: null }] },
    finalAmount: '1',
  })
})
