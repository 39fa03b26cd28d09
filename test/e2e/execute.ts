import { expect } from 'vitest'
import { expectConserved, expectTransactions } from './money.js'
import type { Told, Wallet, World } from './world.js'

/** What is done, and what must come of it. */
type Order = {
  body: object
  /** Kinds and chains of the operations, e.g. `bridge arbitrum-sepolia`. */
  order: string[]
  /** Base units that the wallet has earned since it was made. */
  gained?: bigint
}

/** Lends, withdraws or bridges until it is over, and checks what must hold whatever it was. */
export async function execute(
  world: World,
  wallet: Wallet,
  { body, order, gained = 0n }: Order,
): Promise<Told> {
  const created = await world.create(wallet, body)
  expect(created.status).toBe('planning')
  const told = await world.untilOver(created.id)
  const { steps } = created.executionPlan
  expect(told).toMatchObject({ status: 'completed', results: { completedSteps: steps.length } })
  await expectTransactions(world, told, order)
  expect(await expectConserved(world, wallet, gained)).toBe(0n)
  return told
}

/** Up to what markets round, and the interest of a minute. */
export function expectAbout(units: bigint, wanted: bigint): void {
  expect(units).toBeGreaterThanOrEqual(wanted - 3n)
  expect(units).toBeLessThanOrEqual(wanted + 20n)
}
