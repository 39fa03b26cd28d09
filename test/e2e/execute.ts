import { expect } from 'vitest'
import { expectConserved, expectTransactions } from './money.js'
import type { IntentResponse, Wallet, E2eWorld } from './world.js'

/** What is done, and what must come of it. */
type ExpectedRun = {
  body: object
  /** Kinds and chains of the operations, e.g. `bridge arbitrum-sepolia`. */
  order: string[]
  /** Base units that the wallet has earned since it was made. */
  gained?: bigint
}

/** Lends, withdraws or bridges until it is over, and checks what must hold whatever it was. */
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

/** Up to what markets round, and the interest of a minute. */
export function expectAbout(units: bigint, wanted: bigint): void {
  expect(units).toBeGreaterThanOrEqual(wanted - 3n)
  expect(units).toBeLessThanOrEqual(wanted + 20n)
}
