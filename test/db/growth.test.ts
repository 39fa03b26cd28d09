import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../db/connection/connect.js'
import { findDone } from '../../db/intents/sweeping.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { fill, type Filled } from '../support/growth/fill.js'
import { reads, statements, type Role, type Statement } from '../support/growth/statements.js'

/** Two databases of which one has twenty times as much stored, and as much under way. */
const SIZES = { small: 500, big: 10_000 }
/** Rows that one more level of an index, or a page that is fuller, may bring. */
const MORE = 40

type World = { database: TestDatabase; filled: Filled; as: Record<Role, Db> }
let small: World
let big: World

beforeAll(async () => {
  small = await createWorld(SIZES.small)
  big = await createWorld(SIZES.big)
}, 180_000)
afterAll(async () => {
  for (const world of [small, big].filter(Boolean)) {
    await Promise.all(Object.values(world.as).map((db) => db.destroy()))
    await world.database.drop()
  }
})

async function createWorld(size: number): Promise<World> {
  const database = await createDatabase()
  const filled = await fill({ owner: database.db, url: database.url }, size)
  const open = (role: Role) => connect(database.urlAs(`steward_${role}`), 1)
  const as = {
    api: open('api'),
    worker: open('worker'),
    lanes: open('lanes'),
    signer: open('signer'),
  }
  return { database, filled, as }
}

/** Rows of tables that this transaction has read so far, whether they were of use or not. */
async function readCount(trx: Db): Promise<number> {
  const { rows } = await trx.raw<{ rows: [{ count: string }] }>(
    'select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as count from pg_stat_xact_user_tables',
  )
  return Number(rows[0].count)
}

class Undone extends Error {}

async function runUndone({ as, filled }: World, { role, begin, run }: Statement): Promise<number> {
  let count = NaN
  const undone = as[role].transaction(async (trx) => {
    if (begin) await trx.raw(begin)
    const before = await readCount(trx)
    await run(trx, filled)
    count = (await readCount(trx)) - before
    throw new Undone()
  })
  await expect(undone).rejects.toThrow(Undone)
  return count
}

/** From then on a session keeps to a plan that does not know the values. */
const OFTEN = 9

async function countRows(world: World, statement: Statement): Promise<number> {
  for (let n = 0; n < OFTEN; n++) await runUndone(world, statement)
  return runUndone(world, statement)
}

describe('rows that are read do not grow with what is stored', () => {
  test.each([...reads, ...statements].map((one) => [one.name, one] as const))(
    '%s',
    async (_, statement) => {
      const few = await countRows(small, statement)
      expect(await countRows(big, statement)).toBeLessThanOrEqual(1.5 * few + MORE)
    },
  )
})

test('what is done is looked for among what was begun, however much waits to be begun', async () => {
  const { db } = big.database
  const countDone = (waiting: number) =>
    runUndone(
      { ...big, as: { ...big.as, worker: db } },
      {
        ...{ name: 'done', role: 'worker' },
        async run(trx) {
          await findDone(trx, { forMs: 3_000, limit: 100 })
        },
        begin: `
          set local session_replication_role = replica;
          insert into intent select copy.*
          from generate_series(1, ${waiting}) n, (select * from intent where status = 'executing' limit 1) one,
            jsonb_populate_record(null::intent, to_jsonb(one)
              || jsonb_build_object('id', 'waits_' || n, 'status', 'pending', 'plan', null)) copy`,
      },
    )
  const rows = await countDone(0)
  expect(rows).toBeGreaterThan(0)
  expect(await countDone(1_000)).toBeLessThan(rows + MORE)
})
