import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../../db/client/connect.js'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { silentChains } from '../../planning/chains.js'
import { countEffects, sendDuplicates } from '../../support/duplicates.js'
import { startApi, startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

test('20 keys, each 16 times at once over two servers: each has one effect and 15 replays', async () => {
  const { db } = world.database
  const { id: accountId } = await createAccount(db, { name: 'test', plan: 'pro' })
  const key = await createApiKey(db, accountId, { name: 'test' })
  const secondDb = connect(world.database.urlAs('steward_api'), 10)
  const parts = { db: secondDb, temporal: world.temporal.client, ...silentChains() }
  const second = await startApi(parts)
  const owner = await world.api.call('POST', '/v1/wallets', { key, body: { userId: 'owner' } })
  const body = { walletId: owner.body.id, action: 'lend', amount: 1 }
  const tally = await sendDuplicates({
    ...{ keys: 20, duplicates: 16, concurrency: 2 },
    async send(name, turn) {
      const api = turn % 2 ? world.api : second
      const request = { key, body, headers: { 'idempotency-key': name } }
      const { status, text, headers } = await api.call('POST', '/v1/intents', request)
      return { status, text, replayed: headers.get('idempotent-replayed') === 'true' }
    },
  })
  await second.stop()
  await secondDb.destroy()
  expect(new Set(tally.statuses)).toEqual(new Set([201]))
  expect(tally).toMatchObject({ replayed: 20 * 15, differing: 0 })
  const effects = { intents: 20, charges: 20, credits: 100 }
  expect(await countEffects(db, accountId)).toEqual(effects)
})
