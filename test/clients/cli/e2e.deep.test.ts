import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDevnet, type DevnetUser } from './devnet.js'
import { onTerminal } from './program.js'

const chain = 'arbitrum-sepolia'

let devnet: DevnetUser

beforeAll(async () => {
  devnet = await openDevnet()
}, 600_000)
afterAll(() => devnet?.close())

const eventsOf = async (intentId: unknown) => {
  const path = `/events?intentId=${String(intentId)}&limit=100`
  const { body } = await devnet.world.call('GET', path)
  return (body.data as { type: string }[]).map(({ type }) => type)
}

describe('steward on a devnet', () => {
  test('a failed intent exits with 3, and its retry with 0', async () => {
    await devnet.user.run(['wallets', 'create', 'bob'])
    await devnet.user.run(['fund', 'bob'])
    const lend = ['intents', 'lend', 'bob', '1', '--chain', chain, '--simulate', 'DEPOSIT_FAILED']
    const failed = await devnet.user.run(lend)
    expect([failed.code, failed.stdout]).toEqual([3, expect.stringContaining('DEPOSIT_FAILED')])
    expect(failed.stdout).toContain(`Funds: 1 USDC on ${chain}`)
    const [, id = ''] = /steward intents retry (intent_\w+)/.exec(failed.stdout) ?? []
    const plan = await devnet.user.run(['intents', 'preview-retry', id])
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('deposit 1 USDC into')])
    const terminal = onTerminal(devnet.user, ['intents', 'retry', id], { NO_COLOR: '1' })
    const { code, stdout } = await terminal.ended
    expect([code, stdout]).toEqual([0, expect.stringMatching(/✓ deposit 1 USDC into .*0x/)])
  }, 180_000)

  test('trigger causes the event', async () => {
    const wanted = [
      'intent.recovered',
      'intent.failed',
      'intent.step_progressed',
      'intent.cancelled',
    ]
    const made = await Promise.all(
      wanted.map(async (event) => {
        const { code, stdout } = await devnet.user.run(['trigger', event, '--json'])
        return { event, code, ...(JSON.parse(stdout || '{}') as { intentId?: string }) }
      }),
    )
    for (const { event, code, intentId } of made) {
      // The cancellation may come too late.
      if (event === 'intent.cancelled' && code === 2) continue
      expect([event, code, await eventsOf(intentId)]).toEqual([
        ...[event, 0, expect.arrayContaining([event])],
      ])
    }
  }, 240_000)
})
