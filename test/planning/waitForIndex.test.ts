import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Wallet } from 'ethers'
import { connect } from '../../db/client/connect.js'
import { scopeTransaction } from '../../db/client/scope.js'
import { planOnceIndexed } from '../../planning/waitForIndex.js'
import { storeIntent } from '../../planning/intents.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { insertTestWallet, type TestWallet } from '../db/rows.js'
import { startChains, type TestChains } from './chains.js'

const chain = 'arbitrum-sepolia'
const usdc = 1_000_000n
/** Longer than any test: the awaited blocks are indexed earlier. */
const waitMs = 50_000

let database: TestDatabase
let world: TestChains

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains([chain])])
  await world.index(database.db)
})
afterAll(() => Promise.all([database.drop(), world.stop()]))

async function walletUnindexed(): Promise<TestWallet> {
  const { address } = Wallet.createRandom()
  await world.mint(chain, address, usdc)
  return insertTestWallet(database.db, address)
}

describe('planOnceIndexed', () => {
  test('holds no connection while it waits: a pool of one serves others', async () => {
    const db = connect(database.urlAs('steward_api'), 1)
    const { registry } = world
    // The others are silent, and might have the money.
    const list = world.chains.list.filter((client) => client.chain.name === chain)
    const chains = { ...world.chains, list }
    const request = { action: 'lend', asset: 'USDC', amountUnits: usdc, chain } as const
    const wallets = [await walletUnindexed(), await walletUnindexed(), await walletUnindexed()]
    let looks = 0
    db.on('query', ({ sql }: { sql: string }) => (looks += sql.includes('indexed_block') ? 1 : 0))
    const all = wallets.map(({ id: walletId, accountId, address, requestId }) =>
      planOnceIndexed(
        { db, chains },
        { accountId, walletId, address },
        {
          ...{ request, waitMs },
          attempt: (input) =>
            db.transaction(async (trx) => {
              await scopeTransaction(trx, accountId)
              return storeIntent({ db: trx, registry }, { walletId, accountId, requestId }, input)
            }),
        },
      ),
    )
    // Each looks once before it plans, and then repeatedly.
    while (looks < 5 * wallets.length) await db.raw('select 1')
    const { rows } = await database.db.raw<{ rows: { count: number }[] }>(
      `select count(*)::int from pg_locks l join pg_stat_activity a using (pid)
       where a.usename = 'steward_api' and a.datname = current_database() and l.locktype = 'tuple'`,
    )
    expect(rows).toEqual([{ count: 0 }])
    await world.index(database.db)
    const intents = await Promise.all(all)
    expect(intents.map(({ status }) => status)).toEqual(['planning', 'planning', 'planning'])
    await db.destroy()
  })
})
