import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorld, usdcUnits, type Lend, type World } from './world/fixture.js'
import type { Capability } from '../../domain/capability.js'

let world: World
let lend: Lend

beforeAll(async () => {
  world = await createWorld()
  lend = await world.lend(await world.createWallet(2n * usdcUnits), usdcUnits)
})
afterAll(() => world?.stop())

/** As a probe leaves it. */
function findBroken(...capabilities: Capability[]): void {
  const { chain, condition } = world.signer.chains.byId(world.chain.chainId)
  condition.findings = capabilities.map((capability) => {
    return { chain: chain.name, check: 'check', capability, outcome: 'failed', detail: 'broken' }
  })
}

test('operations of a disabled chain wait, and are signed when it is enabled again', async () => {
  findBroken('chain')
  await world.sign()
  expect(await world.row(lend.operationId)).toMatchObject({ state: 'queued', lease_owner: null })
  expect(await world.sends()).toEqual([])
  findBroken('bridge', 'swaps', 'prices', 'funding', 'gas')
  await world.round()
  expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
})
