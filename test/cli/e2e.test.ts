import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readHoldings } from '../e2e/holdings.js'
import { startWorld, type World } from '../e2e/world.js'
import { createPerson, jsonLines, linesOf, onTerminal, type Person } from './program.js'

const chain = 'arbitrum-sepolia'

let world: World
let person: Person

beforeAll(async () => {
  world = await startWorld()
  person = createPerson({ STEWARD_HOME: world.stack.home })
  const { code, stderr } = await person.run(['login', '--devnet'])
  expect([code, stderr]).toEqual([0, ''])
}, 600_000)
afterAll(async () => {
  const heard = person?.heard()
  person?.leave()
  await world?.stop()
  expect(heard).not.toContain(world.stack.facts.apiKey.slice(11, -4))
})

const json = async (...args: string[]) => {
  const { stdout } = await person.run([...args, '--json'])
  return JSON.parse(stdout) as Record<string, unknown>
}
const walletOf = async (userId: string) =>
  (await json('wallets', 'create', userId)) as { id: string; address: string }
const eventsOf = async (intentId: unknown) => {
  const { body } = await world.call('GET', `/events?intentId=${String(intentId)}&limit=100`)
  return (body.data as { type: string }[]).map(({ type }) => type)
}

describe('the command line against a whole devnet', () => {
  test('from a new wallet to money that is lent, and back', async () => {
    const wallet = await walletOf('alice')
    const funded = await person.run(['fund', 'alice'])
    expect([funded.code, funded.stdout]).toEqual([0, expect.stringContaining(`1 USDC on ${chain}`)])
    const plan = await person.run(['intents', 'preview', 'lend', 'alice', '1', '--chain', chain])
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('deposit 1 USDC into')])

    const lent = await person.run(['intents', 'lend', 'alice', '1', '--chain', chain])
    expect([lent.code, lent.stderr]).toEqual([0, ''])
    const lines = linesOf(lent.stdout)
    const ends = [/^intent_/, /intent\.completed/, /✓ Lent 1 USDC on arbitrum-sepolia at/]
    expect([lines[0], ...lines.slice(-3, -1)]).toEqual(
      ends.map((end) => expect.stringMatching(end) as unknown),
    )
    const { usdc, ...markets } = await readHoldings(world.nodes[chain], wallet)
    expect([usdc, Object.values(markets).some((units) => units > 0n)]).toEqual([0n, true])
    const positions = (await json('positions', 'alice')) as { positions: object[] }
    expect(positions.positions).toMatchObject([{ chain, deposited: '1' }])

    const taken = await json('intents', 'withdraw', wallet.id, 'max', '--chain', chain)
    expect(taken).toMatchObject({ status: 'completed', action: 'withdraw' })
    const after = await readHoldings(world.nodes[chain], wallet)
    expect(after.usdc).toBeGreaterThanOrEqual(999_999n)
  }, 180_000)

  test('one that fails ends with 3, and its retry with 0', async () => {
    await walletOf('bob')
    await person.run(['fund', 'bob'])
    const lend = ['intents', 'lend', 'bob', '1', '--chain', chain, '--simulate', 'DEPOSIT_FAILED']
    const failed = await person.run(lend)
    expect([failed.code, failed.stdout]).toEqual([3, expect.stringContaining('DEPOSIT_FAILED')])
    expect(failed.stdout).toContain(`The money: 1 USDC on ${chain}`)
    const [, id = ''] = /steward intents retry (intent_\w+)/.exec(failed.stdout) ?? []
    const terminal = onTerminal(person, ['intents', 'retry', id], { NO_COLOR: '1' })
    const { code, stdout } = await terminal.ended
    expect([code, stdout]).toEqual([0, expect.stringMatching(/✓ deposit 1 USDC into .*0x/)])
  }, 180_000)

  test('what is triggered happens for real', async () => {
    const wanted = [
      'intent.recovered',
      'intent.failed',
      'intent.step_progressed',
      'intent.cancelled',
    ]
    const made = await Promise.all(
      wanted.map(async (event) => {
        const { code, stdout } = await person.run(['trigger', event, '--json'])
        return { event, code, ...(JSON.parse(stdout || '{}') as { intentId?: string }) }
      }),
    )
    for (const { event, code, intentId } of made) {
      // Whoever is too late to cancel is told so.
      if (event === 'intent.cancelled' && code === 2) continue
      expect([event, code, await eventsOf(intentId)]).toEqual([
        ...[event, 0, expect.arrayContaining([event])],
      ])
    }
  }, 240_000)

  test('the doctor finds nothing, and events are told from the first one', async () => {
    const { code, stdout } = await person.run(['doctor', '--json'])
    const { checks } = JSON.parse(stdout) as { checks: { check: string; outcome: string }[] }
    expect([code, checks.filter(({ outcome }) => outcome !== 'ok')]).toEqual([0, []])
    const told = await person.run(['events', 'tail', '--after', 'evt_0', '--limit', '3', '--json'])
    expect(jsonLines(told.stdout)).toHaveLength(3)
  })
})
