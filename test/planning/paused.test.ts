import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Wallet } from 'ethers'
import { connectChains } from '../../evm/connect.js'
import { connect, type Db } from '../../db/client/connect.js'
import { resumeWork, pauseWork, type PauseTarget } from '../../db/pauses.js'
import { planPending, type PlanningTools } from '../../planning/intents.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { closedUrl, startChains, type TestChains } from './chains.js'

const order = { by: 'alice', why: 'a drill' }
const [near, far] = ['arbitrum-sepolia', 'base-sepolia'] as const
const usdc = 1_000_000n
const refused = { code: 'UNAVAILABLE', details: { reason: 'capability_disabled' } }

let database: TestDatabase
let world: TestChains
let worker: Db
let tools: PlanningTools
let paused: PauseTarget[] = []

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains([near, far])])
  worker = connect(database.urlAs('steward_worker'), 5)
  // ethereum-sepolia does not respond, and is irrelevant here.
  const list = world.chains.list.filter(({ chain }) => chain.name !== 'ethereum-sepolia')
  const { registry, chains } = world
  tools = { db: worker, registry, chains: { ...chains, list } }
})
afterAll(async () => {
  await worker?.destroy()
  await Promise.all([database?.drop(), world?.stop()])
})
afterEach(resume)

const target = (name: typeof near | typeof far): PauseTarget => ({
  ...{ scope: 'chain', subject: String(world.registry.get(name).chainId) },
})
async function pause(...targets: PauseTarget[]): Promise<void> {
  for (const one of targets) await pauseWork(database.db, one, order)
  paused.push(...targets)
}
async function resume(): Promise<void> {
  for (const one of paused) await resumeWork(database.db, one, order)
  paused = []
}

async function walletWith(units: bigint): Promise<TestWallet> {
  const { address } = Wallet.createRandom()
  await world.mint(near, address, units)
  await world.index(database.db)
  return insertTestWallet(database.db, address)
}
const pending = (wallet: TestWallet, values = {}) =>
  insertTestIntent(database.db, wallet, 'pending', values)
const statusOf = async (id: string) =>
  (await database.db('intent').where({ id }).first<{ status: string }>('status')).status

describe('planPending with a paused chain', () => {
  test('plans to another chain, and its reasoning names the paused one', async () => {
    const wallet = await walletWith(usdc)
    const id = await pending(wallet)
    await pause(target(far))
    const plan = await planPending(tools, id)
    expect(plan).toMatchObject({ targetChain: near, steps: [{ type: 'deposit', chain: near }] })
    expect(plan.reasoning).toContain(`${far} is not offered: the chain is paused by an operator`)
  })

  test('without a pause, plans to the best rate', async () => {
    const id = await pending(await walletWith(usdc))
    expect(await planPending(tools, id)).toMatchObject({ targetChain: far })
  })

  test.each([
    ['the named chain', { chain: far }, () => [target(far)]],
    ['the chain of its money', {}, () => [target(near)]],
    ['every chain', {}, () => [target(near), target(far)]],
    ['the deployment', {}, () => [{ scope: 'deployment', subject: '' } as const]],
  ])('waits while %s is paused, and plans after the pause', async (_what, values, stops) => {
    const id = await pending(await walletWith(usdc), values)
    await pause(...stops())
    await expect(planPending(tools, id)).rejects.toMatchObject(refused)
    expect(await statusOf(id)).toBe('pending')
    expect(await database.db('reservation').where({ intent_id: id })).toEqual([])
    await resume()
    expect(await planPending(tools, id)).toMatchObject({ targetChain: far })
    expect(await statusOf(id)).toBe('planning')
  })

  test('waits for a paused chain that does not respond and may have the money', async () => {
    const id = await pending(await walletWith(usdc))
    await pause(target(near))
    const urls = { ...world.urls, [near]: closedUrl }
    const chains = connectChains(world.registry, urls)
    const list = chains.list.filter(({ chain }) => chain.name !== 'ethereum-sepolia')
    const planned = planPending({ ...tools, chains: { ...chains, list } }, id)
    await expect(planned).rejects.toMatchObject(refused)
    for (const client of chains.list) client.close()
    expect(await statusOf(id)).toBe('pending')
  })

  test('error: INSUFFICIENT_FUNDS when the paused chain does not have the money either', async () => {
    const id = await pending(await walletWith(usdc - 1n))
    await pause(target(near))
    await expect(planPending(tools, id)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  })

  test('reservations of other intents on the paused chain do not count', async () => {
    const wallet = await walletWith(usdc)
    await planPending(tools, await pending(wallet))
    await pause(target(near))
    const planned = planPending(tools, await pending(wallet))
    await expect(planned).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  })
})
