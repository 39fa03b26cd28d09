import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readWalletBalances } from '../../e2e/balances.js'
import { openDevnet, type DevnetUser } from './devnet.js'
import { jsonLines, linesOf } from './program.js'
import type { Wallet } from '../../e2e/world.js'

const chain = 'arbitrum-sepolia'

let devnet: DevnetUser
const json = async (...args: string[]) => {
  const { stdout } = await devnet.user.run([...args, '--json'])
  return JSON.parse(stdout) as Record<string, unknown>
}

beforeAll(async () => {
  devnet = await openDevnet()
}, 600_000)
afterAll(() => devnet?.close())

describe('steward on a devnet', () => {
  test('creates and funds a wallet, lends the money and withdraws it', async () => {
    const wallet = (await json('wallets', 'create', 'alice')) as Wallet
    const funded = await devnet.user.run(['fund', 'alice'])
    expect([funded.code, funded.stdout]).toEqual([0, expect.stringContaining(`1 USDC on ${chain}`)])
    const idle = await devnet.user.run(['balances', 'alice'])
    expect(idle.stdout).toContain('Total $1.00')
    expect(idle.stdout).not.toContain('Lent')
    const plan = await devnet.user.run([
      'intents',
      'preview',
      'lend',
      'alice',
      '1',
      '--chain',
      chain,
    ])
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('deposit 1 USDC into')])

    const lent = await devnet.user.run(['intents', 'lend', 'alice', '1', '--chain', chain])
    expect([lent.code, lent.stderr]).toEqual([0, ''])
    const lines = linesOf(lent.stdout)
    const ends = [/^intent_/, /intent\.completed/, /✓ Lent 1 USDC on arbitrum-sepolia at/]
    expect([lines[0], ...lines.slice(-3, -1)]).toEqual(
      ends.map((end) => expect.stringMatching(end) as unknown),
    )
    const { usdc, ...markets } = await readWalletBalances(devnet.world.nodes[chain], wallet)
    expect([usdc, Object.values(markets).some((units) => units > 0n)]).toEqual([0n, true])
    const positions = (await json('positions', 'alice')) as { positions: object[] }
    expect(positions.positions).toMatchObject([{ chain, deposited: '1' }])
    const held = await devnet.user.run(['balances', 'alice'])
    expect(held.stdout).toContain('Lent $1.00. Show it: steward positions alice')

    const taken = await json('intents', 'withdraw', wallet.id, 'max', '--chain', chain)
    expect(taken).toMatchObject({ status: 'completed', action: 'withdraw' })
    const after = await readWalletBalances(devnet.world.nodes[chain], wallet)
    expect(after.usdc).toBeGreaterThanOrEqual(999_999n)
  }, 180_000)

  test('doctor reports no problem, and events tail starts with the first event', async () => {
    const { code, stdout } = await devnet.user.run(['doctor', '--json'])
    const { checks } = JSON.parse(stdout) as { checks: { check: string; outcome: string }[] }
    expect([code, checks.filter(({ outcome }) => outcome !== 'ok')]).toEqual([0, []])
    const tail = await devnet.user.run([
      'events',
      'tail',
      '--after',
      'evt_0',
      '--limit',
      '3',
      '--json',
    ])
    expect(jsonLines(tail.stdout)).toHaveLength(3)
  })
})
