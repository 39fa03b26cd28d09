import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { advanceClock } from '../../../dev/clock/advance.js'
import { readAccruals } from '../../../dev/devnet/accrual.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { takeDeployed, type DeployedNode } from '../../support/nodes.js'
import { insertTestWallet } from '../../db/rows.js'
import type { Facts } from '../../../dev/context.js'

let database: TestDatabase
let taken: DeployedNode

beforeAll(async () => {
  database = await createDatabase()
  taken = await takeDeployed('base-sepolia')
})

afterAll(async () => {
  await taken.release()
  await database.drop()
})

describe('advanceClock', () => {
  test('error: a market of one chain cannot be read, and no row and no chain becomes older', async () => {
    const { node, contracts } = taken
    await insertTestWallet(database.db)
    const readTimes = () => database.db('wallet').pluck<Date[]>('created_at')
    const readMarkets = () => readAccruals(node.url, contracts)
    const before = [await readTimes(), await readMarkets()]
    const wrong = { ...contracts, comet: contracts.usdc }
    const onAll = <Value>(value: Value) => ({
      'ethereum-sepolia': value,
      'arbitrum-sepolia': value,
      'base-sepolia': value,
    })
    const facts = { databaseUrl: database.url, rpcUrls: onAll(node.url) } as Facts
    const ofChains = { ...onAll(contracts), 'base-sepolia': wrong }

    await expect(advanceClock({ facts, contracts: ofChains }, 30)).rejects.toThrow()

    expect([await readTimes(), await readMarkets()]).toEqual(before)
  })
})
