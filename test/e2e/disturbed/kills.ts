import { expect, test } from 'vitest'
import { readWalletBalances } from '../balances.js'
import { expectConserved } from '../money.js'
import type { OwnWorld } from '../world.js'

const chain = 'arbitrum-sepolia'
const lend = { action: 'lend', amount: 1, chain }

/** Repeated kills of the same part. */
export function testKills(open: () => OwnWorld): void {
  test('a role killed four times right after its restart: the stack keeps serving', async () => {
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

  test('Temporal killed: an intent is accepted in the meantime and completes afterwards', async () => {
    const world = open()
    const wallet = await world.createWallet({ [chain]: '1' })
    process.kill(world.stack.readFacts().pids.temporal, 'SIGKILL')
    const { id } = await world.create(wallet, lend)
    expect((await world.untilFinished(id)).status).toBe('completed')
    expect((await readWalletBalances(world.nodes[chain], wallet)).usdc).toBe(0n)
  }, 120_000)
}
