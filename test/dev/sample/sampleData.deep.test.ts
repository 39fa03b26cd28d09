import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../../admin/audit/auditCommand.js'
import { rpcVariable, type ChainName } from '../../../evm/registry.js'
import { createClient, createHome, removeHome, startStack, type Stack } from '../../e2e/stack.js'

const DAY_MS = 86_400_000
const START_MS = 600_000
const args = ['--sample-data']

type ListedIntent = {
  id: string
  status: string
  action: string
  createdAt: string
  error?: { code: string }
}

let home = ''
let stack: Stack

beforeAll(async () => {
  home = await createHome()
  stack = await startStack(home, {}, args)
}, START_MS)

afterAll(async () => {
  await stack.stop()
  removeHome(home)
})

async function listIntents(query = ''): Promise<ListedIntent[]> {
  const { body } = await createClient(stack.facts)('GET', `/intents?limit=100${query}`)
  return body.data as ListedIntent[]
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

describe('npm start -- --sample-data', () => {
  test('intents of all actions and ends lie in the last thirty days, in the order of their ids', async () => {
    const intents = await listIntents()
    const ends = intents.map(({ status, error }) => error?.code ?? status)
    expect(new Set(intents.map(({ action }) => action))).toEqual(
      new Set(['lend', 'withdraw', 'bridge']),
    )
    expect(new Set(ends)).toEqual(
      new Set([
        ...[
          'completed',
          'executing',
          'CANCELLED',
          'BRIDGE_FAILED',
          'BRIDGE_TIMEOUT',
          'SWAP_FAILED',
        ],
        ...['DEPOSIT_FAILED', 'WITHDRAW_FAILED', 'NETWORK_ERROR', 'INSUFFICIENT_FUNDS'],
      ]),
    )
    const times = intents.map(({ createdAt }) => createdAt)
    // Intents that are created at the same time get ids in any order.
    const days = times.map((time) => time.slice(0, 10))
    expect(days).toEqual([...days].sort().reverse())
    expect(days.at(-1)).toBe(daysAgo(30).slice(0, 10))
    const older = times.filter((time) => time < daysAgo(10))
    expect(await listIntents(`&createdBefore=${daysAgo(10)}`)).toHaveLength(older.length)
  })

  test('the oldest position has earned interest on the chain', async () => {
    const call = createClient(stack.facts)
    const { body: wallet } = await call('GET', '/wallets/alice')
    const { body } = await call('GET', `/positions/${wallet.id as string}`)
    const [position] = body.positions as { earned: string }[]
    expect(Number(position?.earned)).toBeGreaterThan(1)
  })

  test('the audit finds no difference', async () => {
    const { facts } = stack
    const urls = Object.entries(facts.rpcUrls).map(([name, url]) => [
      rpcVariable(name as ChainName),
      url,
    ])
    const report = await runAudit(
      [],
      {
        ...{
          NETWORK: 'devnet',
          DEVNET_FILE: `${home}/devnet.json`,
          DATABASE_URL: facts.databaseUrl,
        },
        TEMPORAL_ADDRESS: facts.temporalAddress,
        TEMPORAL_NAMESPACE: facts.temporalNamespace,
        ...(Object.fromEntries(urls) as Record<string, string>),
      },
      () => undefined,
    )
    expect(report).toMatchObject({ exitCode: 0 })
  })

  test(
    'a second start adds nothing',
    async () => {
      const before = await listIntents()
      await stack.stop()
      stack = await startStack(home, {}, args)
      expect(stack.output()).toContain('The sample data is there already.')
      expect((await listIntents()).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    },
    START_MS,
  )
})
