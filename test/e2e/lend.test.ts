import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { Contract, JsonRpcProvider } from 'ethers'
import { connect, type Db } from '../../db/connection/connect.js'
import { InsufficientFundsError, Steward, type Wallet } from '@steward/sdk'
import { createHome, removeHome, startStack, until, type Stack } from './stack.js'
import type { DevnetContracts } from '../../chains/registry.js'

const chain = 'arbitrum-sepolia'
const erc20 = ['function balanceOf(address) view returns (uint256)']

let home: string
let stack: Stack
let steward: Steward
let provider: JsonRpcProvider
let contracts: DevnetContracts
let db: Db

async function open() {
  stack = await startStack(home)
  const { apiKey, apiBaseUrl: baseUrl } = stack.facts
  steward = new Steward({ apiKey, baseUrl })
  provider = new JsonRpcProvider(stack.facts.rpcUrls[chain], undefined, { cacheTimeout: -1 })
  const addresses = readFileSync(join(home, 'devnet.json'), 'utf8')
  contracts = (JSON.parse(addresses) as Record<typeof chain, DevnetContracts>)[chain]
  db = connect(stack.facts.databaseUrl, 2)
}

async function close() {
  provider?.destroy()
  await db?.destroy()
  await stack?.stop()
}

beforeAll(async () => {
  home = await createHome()
  await open()
}, 600_000)

afterAll(async () => {
  await close()
  removeHome(home)
})

const balanceOf = async (token: string, owner: string) =>
  (await new Contract(token, erc20, provider).getFunction('balanceOf')(owner)) as bigint

async function createFundedWallet(userId: string): Promise<Wallet> {
  const wallet = await steward.wallets.create({ userId, metadata: { tier: 1 } })
  await steward.demo.fund(wallet.id)
  await until(
    () => db('operation').where({ wallet_id: wallet.id, kind: 'fund' }).first('state'),
    (row: { state: string } | undefined) => row?.state === 'confirmed' || row?.state === 'final',
  )
  return wallet
}

const lend = (walletId: string, amount: number) =>
  steward.intents.lend({ walletId, amount, asset: 'USDC', chain })

/** The intent when it is completed. */
const untilOver = (id: string) => steward.intents.waitForCompletion(id)

describe('a wallet that holds no ETH', () => {
  test('lends what it was funded with, and the chain says the same as the API', async () => {
    const wallet = await createFundedWallet('alice')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(1_000_000n)

    const created = await lend(wallet.id, 0.75)
    expect(created).toMatchObject({
      status: 'planning',
      executionPlan: { strategy: 'direct-deposit' },
    })
    const over = await untilOver(created.id)
    expect(over).toMatchObject({
      status: 'completed',
      results: {
        completedSteps: 1,
        finalAmount: '0.75',
        transactions: [{ type: 'deposit', chain, txHash: expect.stringMatching(/^0x/) }],
      },
    })

    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(250_000n)
    const lent = await balanceOf(contracts.aToken, wallet.address)
    // Interest accrues from the deposit's own block on.
    expect(lent).toBeGreaterThanOrEqual(749_999n)
    expect(lent).toBeLessThan(751_000n)
    expect(await provider.getBalance(wallet.address)).toBe(0n)
    const hash = over.results?.transactions[0]?.txHash ?? ''
    const receipt = await provider.getTransactionReceipt(hash)
    expect(receipt?.status).toBe(1)
  })

  test('an operator finds the intent in Temporal by what it does', async () => {
    const wallet = await createFundedWallet('bob')
    const { id } = await lend(wallet.id, 1)
    await untilOver(id)
    const { temporalAddress: address, temporalNamespace: namespace } = stack.facts
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
    expect(await described.staticSummary()).toBe(`lend 1 USDC on ${chain}`)
    const history = await client.workflow.getHandle(id).fetchHistory()
    const activities = history.events?.flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
    )
    expect(activities).toEqual(['deposit'])
    await connection.close()
  })

  test('funding sends exactly 1 USDC, however often its workflow is started', async () => {
    const wallet = await createFundedWallet('carol')
    const funding = await db('funding').where({ wallet_id: wallet.id }).first<{ id: string }>('id')
    await db('funding').where({ id: funding.id }).update({ dispatched_at: null })
    await until(
      () => db('funding').where({ id: funding.id }).first('dispatched_at'),
      (row: { dispatched_at: Date | null }) => row.dispatched_at !== null,
    )
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(1_000_000n)
    expect(await db('operation').where({ wallet_id: wallet.id })).toHaveLength(1)
  })

  test('error: INSUFFICIENT_FUNDS leaves no intent and no reservation', async () => {
    const wallet = await createFundedWallet('dave')
    const refused = await lend(wallet.id, 1.000001).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(InsufficientFundsError)
    expect(refused).toMatchObject({
      status: 400,
      details: { required: '1.000001', available: '1' },
    })
    expect(await db('intent').where({ wallet_id: wallet.id })).toHaveLength(0)
    expect(await db('reservation').where({ wallet_id: wallet.id })).toHaveLength(0)
  })

  test('two intents on one balance: one completes, the other is refused', async () => {
    const wallet = await createFundedWallet('erin')
    const answers = await Promise.allSettled([lend(wallet.id, 0.6), lend(wallet.id, 0.6)])
    const ids = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))
    const refusals = answers.flatMap((one): unknown[] =>
      one.status === 'rejected' ? [one.reason] : [],
    )
    expect(ids).toHaveLength(1)
    expect(refusals).toEqual([expect.objectContaining({ code: 'INSUFFICIENT_FUNDS', status: 400 })])
    expect((await untilOver(ids[0] ?? '')).status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(400_000n)
  })
})

describe('parts that die', () => {
  test('worker, lanes and signer killed in the middle: the money moves once, the intent completes', async () => {
    const wallet = await createFundedWallet('frank')
    const before = stack.readFacts().pids
    const { id } = await lend(wallet.id, 1)
    process.kill(before.signer, 'SIGKILL')
    process.kill(before.lanes, 'SIGKILL')
    process.kill(before.worker, 'SIGKILL')
    expect((await untilOver(id)).status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(0n)
    expect(await db('operation').where({ intent_id: id })).toHaveLength(1)
    const { pids } = stack.readFacts()
    expect(pids.worker).not.toBe(before.worker)
    expect(pids.lanes).not.toBe(before.lanes)
    expect(pids.signer).not.toBe(before.signer)
  }, 120_000)

  test('Temporal killed: an intent is accepted meanwhile and completes afterwards', async () => {
    const wallet = await createFundedWallet('grace')
    process.kill(stack.readFacts().pids.temporal, 'SIGKILL')
    const created = await lend(wallet.id, 1)
    expect((await untilOver(created.id)).status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(0n)
  }, 120_000)

  test('after a restart everything is as it was, and goes on', async () => {
    const wallet = await createFundedWallet('heidi')
    const key = stack.facts.apiKey
    await close()
    await open()
    expect(stack.facts.apiKey).toBe(key)
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(1_000_000n)
    const { id } = await lend(wallet.id, 1)
    expect((await untilOver(id)).status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(0n)
  }, 120_000)
})
