import { afterAll, beforeAll, expect, test } from 'vitest'
import { overviewAnswer } from '../../../api/schemas/activity.js'
import { grantCredits } from '../../../db/accounts/accounts.js'
import { silentChains } from '../../planning/chains.js'
import { startWorld, type ApiWorld } from '../api.js'
import { newPerson, pagesOf } from './people.js'

let world: ApiWorld

beforeAll(async () => {
  world = await startWorld(silentChains())
})
afterAll(() => world.stop())

test('GET /overview returns the monthly credits left, without bought credits and earlier months', async () => {
  const { db } = world.database
  const { accountId, cookie } = await newPerson(world, { role: 'viewer' })
  const readMonth = async () => {
    const { body } = await pagesOf(world)('GET', '/overview', { cookie })
    return overviewAnswer.parse(body).credits.month
  }
  const { given } = await readMonth()
  expect(given).toBeGreaterThan(3)
  await db('account')
    .where({ id: accountId })
    .update({ granted: given - 3 })
  await grantCredits(db, accountId, { credits: 7 })
  expect(await readMonth()).toMatchObject({ given, left: given - 3 })
  await db('account').where({ id: accountId }).update({ period: 202001, granted: 1 })
  expect(await readMonth()).toMatchObject({ given, left: given })
})
