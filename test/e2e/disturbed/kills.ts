import { expect, test } from 'vitest'
import { readReservationsOfToken } from '../holdings.js'
import { expectConserved } from '../money.js'
import type { OwnWorld } from '../world.js'

const chain = 'arbitrum-sepolia'
const lend = { action: 'lend', amount: 1, chain }

/** Parts that die again and again. */
export function testKills(open: () => OwnWorld): void {
  test('a role that is killed four times as soon as it is back: the stack serves on', async () => {
    const world = open()
    for (let kills = 0; kills < 4; kills++) {
      await world.kill('worker')
      await world.steward.wallets.list({}, { maxRetries: 0 })
    }
    const wallet = await world.createWallet({ [chain]: '1' })
    const { id } = await world.create(wallet, lend)
    expect((await world.untilFinished(id)).status).toBe('completed')
    expect(await expectConserved(world, wallet)).toBe(0n)
    expect(world.stack.output()).not.toContain('Given up')
  }, 120_000)

  test('Temporal killed: an intent is accepted meanwhile and completes afterwards', async () => {
    const world = open()
    const wallet = await world.createWallet({ [chain]: '1' })
    process.kill(world.stack.readFacts().pids.temporal, 'SIGKILL')
    const { id } = await world.create(wallet, lend)
    expect((await world.untilFinished(id)).status).toBe('completed')
    expect((await readReservationsOfToken(world.nodes[chain], wallet)).usdc).toBe(0n)
  }, 120_000)
}
