import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface, toQuantity } from 'ethers'
import { advanceClock } from '../../../dev/clock/advance.js'
import { readAccruals } from '../../../dev/devnet/accrual.js'
import { waitForReceipt } from '../../../dev/devnet/contracts/plan.js'
import { devnetOwner } from '../../../dev/devnet/deploy.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { startFaultProxy, type Decide } from '../../support/faultProxy.js'
import { takeDeployed, type DeployedNode } from '../../support/nodes.js'
import { insertTestWallet } from '../../db/rows.js'
import { inAave, inComet, yearly } from '../devnet/interest.js'
import type { Facts } from '../../../dev/context.js'

let database: TestDatabase
let taken: DeployedNode

beforeAll(async () => {
  database = await createDatabase()
  taken = await takeDeployed('ethereum-sepolia')
  await insertTestWallet(database.db)
})

afterAll(async () => {
  await taken.release()
  await database.drop()
})

const DAY_SECONDS = 86_400
const MINE_MS = 10_000
const onAll = <Value>(value: Value) => ({
  'ethereum-sepolia': value,
  'arbitrum-sepolia': value,
  'base-sepolia': value,
})
const factsOf = (rpcUrl: string) =>
  ({
    ...{ databaseUrl: database.url, rpcUrls: onAll(rpcUrl) },
    ...{ temporalAddress: '127.0.0.1:1', temporalNamespace: 'none' },
  }) as Facts

/** Unix seconds of the wallet's creation and of the last accruals. */
async function readSeconds(): Promise<number[]> {
  const [createdAt = new Date(0)] = await database.db('wallet').pluck<Date[]>('created_at')
  const accruals = await readAccruals(taken.node.url, taken.contracts)
  const created = Math.floor(createdAt.getTime() / 1_000)
  return [created, ...accruals.map(({ seconds }) => seconds)]
}

/** Only the first requests that write to storage succeed. */
function failsAfter(requests: number): Decide {
  let writes = 0
  return ({ method }, index) =>
    method === 'anvil_setStorageAt' && index === 0 && ++writes > requests ? 'http500' : undefined
}

const withdrawals = new Interface([
  'function withdraw(address asset, uint256 amount, address to)',
  'function withdraw(address asset, uint256 amount)',
])

/** The owner of the devnet withdraws a base unit from Aave and from the Comet. Both accrue then. */
async function touchMarkets({ node, contracts }: DeployedNode): Promise<void> {
  const { aavePool, aaveAsset, comet, usdc } = contracts
  await send(aavePool, 'withdraw(address,uint256,address)', [aaveAsset, 1, devnetOwner])
  await send(comet, 'withdraw(address,uint256)', [usdc, 1])

  async function send(to: string | undefined, name: string, args: unknown[]) {
    const data = withdrawals.encodeFunctionData(name, args)
    // Fixed, because an estimate uses the current block, and the next one also accrues interest.
    const transaction = { from: devnetOwner, to, data, gas: toQuantity(2_000_000) }
    const hash = await callRpc<string>(node.url, 'eth_sendTransaction', [transaction])
    const receipt = await waitForReceipt(node.url, hash, MINE_MS)
    if (receipt?.status !== '0x1') throw new Error(`${name} has failed.`)
  }
}

describe('advanceClock', () => {
  test('error: a market of one chain cannot be read, and no row and no chain becomes older', async () => {
    const { node, contracts } = taken
    const before = await readSeconds()
    const wrong = { ...contracts, comet: contracts.usdc }
    const devnet = {
      facts: factsOf(node.url),
      contracts: { ...onAll(contracts), 'base-sepolia': wrong },
    }

    await expect(advanceClock(devnet, 30)).rejects.toThrow()

    expect(await readSeconds()).toEqual(before)
  })

  test('an advance that was cut off on the chains is finished by the next one, and its days pass once', async () => {
    const { node, contracts } = taken
    const proxy = await startFaultProxy(node.url)
    const devnet = { facts: factsOf(proxy.url), contracts: onAll(contracts) }
    const before = await readSeconds()
    const daysLater = (days: number) => before.map((at) => at - days * DAY_SECONDS)
    proxy.set(failsAfter(1))
    await expect(advanceClock(devnet, 30)).rejects.toThrow('HTTP 500')
    expect(await readSeconds()).not.toEqual(daysLater(30))
    proxy.set(undefined)

    expect(await advanceClock(devnet, 30)).toEqual({ days: 30, wasInterrupted: true })

    expect(await readSeconds()).toEqual(daysLater(30))
    expect(await advanceClock(devnet, 2)).toEqual({ days: 2, wasInterrupted: false })
    expect(await readSeconds()).toEqual(daysLater(32))
    await proxy.stop()
  })

  test.each([0, 1])(
    'a month of interest is paid once when markets accrue after an interruption at write %s',
    async (writes) => {
      const used = await takeDeployed('ethereum-sepolia')
      const { node, contracts } = used
      const proxy = await startFaultProxy(node.url)
      const devnet = { facts: factsOf(proxy.url), contracts: onAll(contracts) }
      const readAll = () => Promise.all([inAave(node.url, contracts), inComet(node.url, contracts)])
      const [aave, comet] = await readAll()
      proxy.set(failsAfter(writes))
      await expect(advanceClock(devnet, 30)).rejects.toThrow('HTTP 500')
      proxy.set(undefined)

      await touchMarkets(used)
      await advanceClock(devnet, 30)

      const [aaveAfter, cometAfter] = await readAll()
      expect(yearly(aave, aaveAfter)).toBeCloseTo(1.51, 1)
      expect(yearly(comet, cometAfter)).toBeCloseTo(1.24, 1)
      await Promise.all([proxy.stop(), used.release()])
    },
  )

  test('error: another advance runs, and only its days pass', async () => {
    const { node, contracts } = taken
    const devnet = { facts: factsOf(node.url), contracts: onAll(contracts) }
    const before = await readSeconds()

    const results = await Promise.allSettled([advanceClock(devnet, 3), advanceClock(devnet, 3)])

    const errors = results.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as Error] : [],
    )
    expect(errors.map(String)).toEqual([
      'UserError: Another advance runs. Wait until it has finished.',
    ])
    expect(await readSeconds()).toEqual(before.map((at) => at - 3 * DAY_SECONDS))
  })
})
