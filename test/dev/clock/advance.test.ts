import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { advanceClock } from '../../../dev/clock/advance.js'
import { readAccruals } from '../../../dev/devnet/accrual.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { takeDeployed, type DeployedNode } from '../../support/nodes.js'
import { insertTestWallet } from '../../db/rows.js'
import type { Facts } from '../../../dev/context.js'

let database: TestDatabase
let taken: DeployedNode

beforeAll(async () => {
  database = await createDatabase()
  taken = await takeDeployed('base-sepolia')
  await insertTestWallet(database.db)
})

afterAll(async () => {
  await taken.release()
  await database.drop()
})

const DAY_SECONDS = 86_400
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
async function readSeconds(): Promise<bigint[]> {
  const [createdAt = new Date(0)] = await database.db('wallet').pluck<Date[]>('created_at')
  const accruals = await readAccruals(taken.node.url, taken.contracts)
  const created = BigInt(Math.floor(createdAt.getTime() / 1_000))
  return [created, ...accruals.map(({ seconds }) => seconds)]
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
    const daysLater = (days: number) => before.map((at) => at - BigInt(days * DAY_SECONDS))
    let writes = 0
    proxy.set(({ method }) =>
      method === 'anvil_setStorageAt' && ++writes > 1 ? 'http500' : undefined,
    )
    await expect(advanceClock(devnet, 30)).rejects.toThrow('HTTP 500')
    expect(await readSeconds()).not.toEqual(daysLater(30))
    proxy.set(undefined)

    expect(await advanceClock(devnet, 30)).toEqual({ days: 30, wasInterrupted: true })

    expect(await readSeconds()).toEqual(daysLater(30))
    expect(await advanceClock(devnet, 2)).toEqual({ days: 2, wasInterrupted: false })
    expect(await readSeconds()).toEqual(daysLater(32))
    await proxy.stop()
  })
})
