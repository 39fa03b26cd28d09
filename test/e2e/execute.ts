import { expect } from 'vitest'
import { expectConserved, expectTransactions } from './money.js'
import type { IntentResponse, Wallet, E2eWorld } from './world.js'

/** A request and its expected effects. */
type ExpectedRun = {
  body: object
  /** Kinds and chains of the operations, e.g. `bridge arbitrum-sepolia`. */
  order: string[]
  /** Base units that the wallet has earned since its creation. */
  gained?: bigint
}

/** Executes a lend, withdrawal or bridge to its end and checks the invariants of every intent. */
export async function execute(
  world: E2eWorld,
  wallet: Wallet,
  { body, order, gained = 0n }: ExpectedRun,
): Promise<IntentResponse> {
  const created = await world.create(wallet, body)
  expect(created.status).toBe('planning')
  const finished = await world.untilFinished(created.id)
  const { steps } = created.executionPlan
  expect(finished).toMatchObject({ status: 'completed', results: { completedSteps: steps.length } })
  await expectTransactions(world, finished, order)
  expect(await expectConserved(world, wallet, gained)).toBe(0n)
  return finished
}

/** Tolerance: rounding of the markets, and a minute of interest. */
export function expectAbout(units: bigint, wanted: bigint): void {
  expect(units).toBeGreaterThanOrEqual(wanted - 3n)
  expect(units).toBeLessThanOrEqual(wanted + 20n)
}
