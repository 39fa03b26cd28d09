import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

const script = fileURLToPath(new URL('../../support/hammer.ts', import.meta.url))

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())

test('admit: 8 concurrent processes admit exactly the rate limit', async () => {
  const { id } = await createAccount(database.db, { name: 'test', plan: 'free' })
  const key = await createApiKey(database.db, id, { name: 'test' })
  await database.db('account').where({ id }).update({ rpm: 200 })
  const startAt = String(Date.now() + 4_000)
  const facts = [database.urlAs('steward_api'), key, '100', startAt]
  const args = ['--import', 'tsx', script, ...facts]
  const runs = Array.from({ length: 8 }, () => promisify(execFile)(process.execPath, args))
  const answers = (await Promise.all(runs)).flatMap(
    ({ stdout }) => JSON.parse(stdout) as { resetAt: number; verdict: string }[],
  )
  expect(answers).toHaveLength(800)
  // A run across the end of a minute has two minutes, each checked separately.
  for (const window of new Set(answers.map(({ resetAt }) => resetAt))) {
    const calls = answers.filter(({ resetAt }) => resetAt === window)
    const admitted = calls.filter(({ verdict }) => verdict === 'admitted')
    expect(admitted).toHaveLength(Math.min(200, calls.length))
  }
})
