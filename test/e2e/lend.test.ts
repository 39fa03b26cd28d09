import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, Connection } from '@temporalio/client'
import { readWalletBalances } from './balances.js'
import { expectConserved, expectTransactions, readSupply } from './money.js'
import { until } from './stack.js'
import { startWorld, type OwnWorld, type Wallet } from './world.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const

let world: OwnWorld
let supply: bigint

beforeAll(async () => {
  world = await startWorld()
  supply = await readSupply(world)
}, 600_000)
afterAll(() => world?.stop())

const lend = (amount: number, chain: string) => ({ action: 'lend', amount, chain })

async function createFundedWallet(userId: string): Promise<Wallet> {
  const wallet = await world.steward.wallets.create({ userId, metadata: { tier: 1 } })
  await world.steward.demo.fund(wallet.id)
  await until(
    () => world.db('operation').where({ wallet_id: wallet.id, kind: 'fund' }).first('state'),
    (row: { state: string } | undefined) => row?.state === 'confirmed' || row?.state === 'final',
  )
  return wallet
}

const balances = (wallet: Wallet) => readWalletBalances(world.nodes[arbitrum], wallet)

describe('a wallet that holds no ETH', () => {
  test('lends the funded amount, and the chain agrees with the API', async () => {
    const wallet = await createFundedWallet('alice')
    expect(await balances(wallet)).toMatchObject({ usdc: 1_000_000n, eth: 0n })
    const created = await world.create(wallet, lend(0.75, arbitrum))
    expect(created).toMatchObject({
      status: 'planning',
      executionPlan: { strategy: 'direct-deposit' },
    })
    const finished = await world.untilFinished(created.id)
    expect(finished).toMatchObject({
      status: 'completed',
      results: { completedSteps: 1, finalAmount: '0.75' },
    })
    await expectTransactions(world, finished, [`deposit ${arbitrum}`])
    const { usdc, aave, eth } = await balances(wallet)
    expect([usdc, eth]).toEqual([250_000n, 0n])
    // Interest accrues from the block of the deposit.
    expect(aave).toBeGreaterThanOrEqual(749_999n)
    expect(aave).toBeLessThan(751_000n)
  })

  test('an operator finds the intent in Temporal by its search attributes', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const { id } = await world.create(wallet, lend(1, arbitrum))
    await world.untilFinished(id)
    const { temporalAddress: address, temporalNamespace: namespace } = world.stack.facts
    const connection = await Connection.connect({ address })
    const client = new Client({ connection, namespace })
    const query = `WalletId = '${wallet.id}' and IntentAction = 'lend'`
    const found = await until(
      async () => {
        const list = []
        for await (const execution of client.workflow.list({ query })) list.push(execution)
        return list
      },
      (list) => list[0]?.status.name === 'COMPLETED',
    )
    expect(found.map(({ workflowId }) => workflowId)).toEqual([id])
    const described = await client.workflow.getHandle(id).describe()
    expect(await described.staticSummary()).toBe(`lend 1 USDC on ${arbitrum}`)
    const page = `${world.stack.facts.hostUrl}/dashboard/intents/${id}`
    expect(await described.staticDetails()).toBe(`Intent [${id}](${page})`)
    const history = await client.workflow.getHandle(id).fetchHistory()
    const activities = history.events?.flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
    )
    expect(activities).toEqual(['deposit'])
    await connection.close()
  })

  test('funding sends exactly 1 USDC, however often its workflow is started', async () => {
    const wallet = await createFundedWallet('carol')
    const funding = () => world.db('funding').where({ wallet_id: wallet.id })
    await funding().update({ dispatched_at: null, dispatch_attempted_at: null })
    await until(
      () => funding().first('dispatched_at'),
      (row: { dispatched_at: Date | null }) => row.dispatched_at !== null,
    )
    expect((await balances(wallet)).usdc).toBe(1_000_000n)
    expect(await world.db('operation').where({ wallet_id: wallet.id })).toHaveLength(1)
  })

  test('two intents on one balance: one completes, the other is refused', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const baselines = [1, 2].map(() => world.create(wallet, lend(0.6, arbitrum)))
    const answers = await Promise.allSettled(baselines)
    const ids = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))
    const refusals = answers.flatMap((one): unknown[] =>
      one.status === 'rejected' ? [one.reason] : [],
    )
    expect(ids).toHaveLength(1)
    expect(refusals).toEqual([expect.objectContaining({ code: 'INSUFFICIENT_FUNDS', status: 400 })])
    expect((await world.untilFinished(ids[0] ?? '')).status).toBe('completed')
    expect((await balances(wallet)).usdc).toBe(400_000n)
  })
})

describe('parts that die', () => {
  test('every role killed in the middle of a lend, a bridged lend, a withdrawal and a bridge: all complete, the money moves once', async () => {
    const lender = await world.createWallet({ [arbitrum]: '1' })
    const { id: lent } = await world.create(lender, lend(1, arbitrum))
    await world.untilFinished(lent)
    const cases = [
      [await world.createWallet({ [arbitrum]: '1' }), lend(1, arbitrum), [`deposit ${arbitrum}`]],
      [
        await world.createWallet({ [arbitrum]: '1' }),
        lend(1, base),
        [`bridge ${arbitrum}`, `mint ${base}`, `deposit ${base}`],
      ],
      [lender, { action: 'withdraw', amount: 'max', chain: arbitrum }, [`withdraw ${arbitrum}`]],
      [
        await world.createWallet({ [base]: '1' }),
        { action: 'bridge', amount: 1, fromChain: base, toChain: arbitrum },
        [`bridge ${base}`, `mint ${arbitrum}`],
      ],
    ] as const
    const created = await Promise.all(cases.map(([wallet, body]) => world.create(wallet, body)))
    const ids = created.map(({ id }) => id)
    const begun = () => world.db('operation').whereIn('intent_id', ids).distinct('intent_id')
    await until(begun, ({ length }) => length === ids.length)
    await world.kill('api', 'worker', 'relayer', 'signer')

    for (const [i, [wallet, , order]] of cases.entries()) {
      const finished = await world.untilFinished(ids[i] ?? '')
      expect(finished.status).toBe('completed')
      await expectTransactions(world, finished, [...order])
      expect(await expectConserved(world, wallet)).toBe(0n)
      expect(await world.db('operation').where({ intent_id: finished.id })).toHaveLength(
        order.length,
      )
    }
    expect(await readSupply(world)).toBe(supply + world.given())
  }, 120_000)
})
