import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { Contract, JsonRpcProvider } from 'ethers'
import { connect, type Db } from '../../db/connection/connect.js'
import { createClient, createHome, removeHome, startStack, until, type Stack } from './stack.js'
import type { DevnetContracts } from '../../chains/registry.js'

const chain = 'arbitrum-sepolia'
const erc20 = ['function balanceOf(address) view returns (uint256)']

let home: string
let stack: Stack
let call: ReturnType<typeof createClient>
let provider: JsonRpcProvider
let contracts: DevnetContracts
let db: Db

async function open() {
  stack = await startStack(home)
  call = createClient(stack.facts)
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

type Wallet = { id: string; address: string }

async function createWallet(userId: string): Promise<Wallet> {
  const { status, body } = await call('POST', '/wallets', { userId, metadata: { tier: 1 } })
  expect(status).toBe(201)
  return body as Wallet
}

async function createFundedWallet(userId: string): Promise<Wallet> {
  const wallet = await createWallet(userId)
  expect((await call('POST', '/demo/fund', { walletId: wallet.id })).status).toBe(201)
  await until(
    () => db('operation').where({ wallet_id: wallet.id, kind: 'fund' }).first('state'),
    (row: { state: string } | undefined) => row?.state === 'confirmed' || row?.state === 'final',
  )
  return wallet
}

const lend = (walletId: string, amount: number) =>
  call('POST', '/intents', { walletId, action: 'lend', amount, asset: 'USDC', chain })

const untilOver = (id: unknown) =>
  until(
    () => call('GET', `/intents/${String(id)}`),
    ({ body }) => body.status === 'completed' || body.status === 'failed',
  )

describe('a wallet that holds no ETH', () => {
  test('lends what it was funded with, and the chain says the same as the API', async () => {
    const wallet = await createFundedWallet('alice')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(1_000_000n)

    const created = await lend(wallet.id, 0.75)
    expect(created).toMatchObject({
      status: 201,
      body: { status: 'planning', executionPlan: { strategy: 'direct-deposit' } },
    })
    const { body } = await untilOver(created.body.id)
    expect(body).toMatchObject({
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
    const { results } = body as { results: { transactions: { txHash: string }[] } }
    const receipt = await provider.getTransactionReceipt(results.transactions[0]?.txHash ?? '')
    expect(receipt?.status).toBe(1)
  })

  test('an operator finds the intent in Temporal by what it does', async () => {
    const wallet = await createFundedWallet('bob')
    const { body } = await lend(wallet.id, 1)
    await untilOver(body.id)
    const connection = await Connection.connect({ address: stack.facts.temporalAddress })
    const client = new Client({ connection })
    const query = `WalletId = '${wallet.id}' and IntentAction = 'lend'`
    const found = await until(
      async () => {
        const list = []
        for await (const execution of client.workflow.list({ query })) list.push(execution)
        return list
      },
      (list) => list[0]?.status.name === 'COMPLETED',
    )
    expect(found.map(({ workflowId }) => workflowId)).toEqual([body.id])
    const described = await client.workflow.getHandle(String(body.id)).describe()
    expect(await described.staticSummary()).toBe(`lend 1 USDC on ${chain}`)
    const history = await client.workflow.getHandle(String(body.id)).fetchHistory()
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
    const answer = await lend(wallet.id, 1.000001)
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'INSUFFICIENT_FUNDS',
        details: { required: '1.000001', available: '1' },
      },
    })
    expect(await db('intent').where({ wallet_id: wallet.id })).toHaveLength(0)
    expect(await db('reservation').where({ wallet_id: wallet.id })).toHaveLength(0)
  })

  test('two intents on one balance: one completes, the other is refused', async () => {
    const wallet = await createFundedWallet('erin')
    const answers = await Promise.all([lend(wallet.id, 0.6), lend(wallet.id, 0.6)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
    const accepted = answers.find(({ status }) => status === 201)
    expect((await untilOver(accepted?.body.id)).body.status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(400_000n)
  })
})

describe('parts that die', () => {
  test('worker, lanes and signer killed in the middle: the money moves once, the intent completes', async () => {
    const wallet = await createFundedWallet('frank')
    const before = stack.readFacts().pids
    const { body } = await lend(wallet.id, 1)
    process.kill(before.signer, 'SIGKILL')
    process.kill(before.lanes, 'SIGKILL')
    process.kill(before.worker, 'SIGKILL')
    expect((await untilOver(body.id)).body.status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(0n)
    expect(await db('operation').where({ intent_id: String(body.id) })).toHaveLength(1)
    const { pids } = stack.readFacts()
    expect(pids.worker).not.toBe(before.worker)
    expect(pids.lanes).not.toBe(before.lanes)
    expect(pids.signer).not.toBe(before.signer)
  }, 120_000)

  test('Temporal killed: an intent is accepted meanwhile and completes afterwards', async () => {
    const wallet = await createFundedWallet('grace')
    process.kill(stack.readFacts().pids.temporal, 'SIGKILL')
    const created = await lend(wallet.id, 1)
    expect(created.status).toBe(201)
    expect((await untilOver(created.body.id)).body.status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(0n)
  }, 120_000)

  test('after a restart everything is as it was, and goes on', async () => {
    const wallet = await createFundedWallet('heidi')
    const key = stack.facts.apiKey
    await close()
    await open()
    expect(stack.facts.apiKey).toBe(key)
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(1_000_000n)
    const { body } = await lend(wallet.id, 1)
    expect((await untilOver(body.id)).body.status).toBe('completed')
    expect(await balanceOf(contracts.usdc, wallet.address)).toBe(0n)
  }, 120_000)
})
