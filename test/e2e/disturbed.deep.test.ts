import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testFaultPoints } from './disturbed/faultPoints.js'
import { testFailures } from './disturbed/failures.js'
import { testDelays } from './disturbed/delays.js'
import { testKills } from './disturbed/kills.js'
import { testMarkets } from './disturbed/markets.js'
import { testOperators } from './disturbed/operators.js'
import { testOutage } from './disturbed/outage.js'
import { readWalletBalances } from './balances.js'
import { readSupply } from './money.js'
import { startWorld, type OwnWorld } from './world.js'

const chain = 'arbitrum-sepolia'

/** One stack for all disturbances that would affect other tests. Each suite restores it. */
const folder = await mkdtemp(join(tmpdir(), 'steward-disturbed-'))
const file = join(folder, 'point')
const open = () => world
let world: OwnWorld
let supply: bigint

beforeAll(async () => {
  world = await startWorld({ FAULT_POINT_FILE: file })
  supply = await readSupply(world)
}, 600_000)
afterEach(async () => {
  world.resume()
  await world.setFaults({ stuck: false })
  if (existsSync(file)) await rm(file)
})
afterAll(async () => {
  await world?.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('failures', () => testFailures(open))
describe('delays', () => testDelays(open))
describe('operators', () => testOperators(open))
describe('crash points', () => testFaultPoints({ open, file }))
describe('kills', () => testKills(open))
describe('an outage', () => testOutage(open))

test('a restart keeps keys, balances and the ability to execute intents', async () => {
  const wallet = await world.createWallet({ [chain]: '1' })
  const key = world.stack.facts.apiKey
  supply += world.given()
  world = await world.restart()
  expect(world.stack.facts.apiKey).toBe(key)
  expect((await readWalletBalances(world.nodes[chain], wallet)).usdc).toBe(1_000_000n)
  const { id } = await world.create(wallet, { action: 'lend', amount: 1, chain })
  expect((await world.untilFinished(id)).status).toBe('completed')
  expect((await readWalletBalances(world.nodes[chain], wallet)).usdc).toBe(0n)
}, 120_000)

// A restart resets the clock of a chain that was moved forward, so this suite runs last.
describe('markets', () => testMarkets(open))

test('the USDC supply over the whole run equals the minted amount', async () => {
  expect(await readSupply(world)).toBe(supply + world.given())
})
