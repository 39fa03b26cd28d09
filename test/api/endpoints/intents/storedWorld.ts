import { createApiKey } from '../../../../db/accounts/accounts.js'
import { insertTestWallet } from '../../../db/rows.js'
import { startWorld } from '../../api.js'

/** An API over rows that a test stores itself: a wallet with a key of its account, and a chain that is indexed. */
export async function startStoredWorld() {
  const world = await startWorld()
  const { db } = world.database
  const wallet = await insertTestWallet(db)
  const key = await createApiKey(db, wallet.accountId, { name: 'test' })
  await db('chain').insert({
    ...{ id: 421_614, name: 'arbitrum-sepolia', indexed_block: 9, indexed_hash: '0x' },
    finalized_block: 1,
  })
  return { world, wallet, key }
}
