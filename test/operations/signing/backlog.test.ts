import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readContenders } from '../../../operations/signing/contending.js'
import { areOthersWaiting } from '../../../operations/signing/signedAmounts.js'
import { claimOperations } from '../../../operations/signing/claiming.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import type { Sender } from '../../../operations/signing/signing.js'

const FEW = 200
const MANY = 4_000
/** The most that one take takes. */
const BUNDLE = 20

const lateSeconds = 60
let database: TestDatabase
let signer: Db
let chains = 5_000

beforeAll(async () => {
  database = await createDatabase()
  signer = connect(database.urlAs('steward_signer'), 1)
  await database.db('kek').insert({ id: 'kek', public_key: Buffer.alloc(32), active: true })
})
afterAll(async () => {
  await signer.destroy()
  await database.drop()
})

/** The only sender of a chain of its own. */
async function createSender(db = database.db): Promise<Sender> {
  const own = { sender: newId('0x'), kekId: 'kek', sealedKey: Buffer.alloc(1) }
  const { sender, kekId: kek_id, sealedKey: sealed_key } = own
  await db('sender').insert({ chain_id: ++chains, sender, kek_id, sealed_key })
  return { ...own, chainId: BigInt(chains), purpose: 'operations' }
}

/** What differs from row `n` to row `n`, in SQL. */
type BacklogRow = {
  account?: string
  wallet?: string
  kind?: string
  resource?: string
  state?: string
}

/** Rows of nothing but themselves: neither keys nor triggers are asked. */
async function insertMany(
  db: Db,
  { chainId }: Sender,
  count: number,
  rows: BacklogRow,
  { isAnalyzed = true } = {},
): Promise<void> {
  const { account = `'acc'`, wallet = `'wallet' || n`, kind = 'deposit', resource = 'null' } = rows
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    await trx.raw(
      `insert into operation (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, input,
         min_block, state, priority, resource, created_at)
       select ? || n, ? || n, 1, ?, ${account}, ${wallet}, ?, ? || n, '{"units":"1"}', 0, ?, 3, ${resource},
         clock_timestamp() + n * interval '1 millisecond'
       from generate_series(1, cast(? as int)) n`,
      [
        newId('op_'),
        newId('i_'),
        kind,
        chainId.toString(),
        newId('k_'),
        rows.state ?? 'queued',
        count,
      ],
    )
  })
  if (isAnalyzed) await db.raw('analyze operation')
}

/** Rows of operations that a statement reads. */
async function countRead(ask: (trx: Db) => Promise<unknown>, db = signer): Promise<number> {
  const trx = await db.transaction()
  const read = async () => {
    const row = await trx('pg_stat_xact_user_tables')
      .where({ relname: 'operation' })
      .first<{ rows: string }>(trx.raw('seq_tup_read + idx_tup_fetch as rows'))
    return Number(row.rows)
  }
  const before = await read()
  await ask(trx)
  const after = await read()
  await trx.rollback()
  return after - before
}

const backlogs: [string, BacklogRow][] = [
  ['one account', {}],
  ['one wallet', { wallet: `'wallet'` }],
  ['as many accounts', { account: `'acc' || n` }],
  ['swaps of one pair', { kind: 'swap', resource: `'swap:A/B'` }],
  ['burns of as many wallets', { kind: 'bridge', resource: `'burn:' || n` }],
]

describe('the rows that are read of a long queue are as many as of a short one', () => {
  async function readOf(rows: BacklogRow, ask: (trx: Db, sender: Sender) => Promise<unknown>) {
    const counts: number[] = []
    for (const count of [FEW, MANY]) {
      const sender = await createSender()
      await insertMany(database.db, sender, count, rows)
      counts.push(await countRead((trx) => ask(trx, sender)))
    }
    return counts as [few: number, many: number]
  }

  test('by the question who contends for the same', async () => {
    const resources = ['deposit:0x01']
    const [few, many] = await readOf({ resource: `'deposit:0x01'` }, (trx, { chainId }) =>
      readContenders(trx, { chainId: Number(chainId), resources, head: 1n, ids: [] }),
    )
    expect(many).toBeLessThanOrEqual(few)
  })

  test.each([
    ['all', {}],
    ['a wallet', { walletId: 'wallet' }],
  ])('by the question who waits for the daily limit of %s', async (_title, counted) => {
    const [few, many] = await readOf({ wallet: `'wallet'` }, (trx) =>
      areOthersWaiting(trx, 'mine', counted),
    )
    expect(many).toBeLessThanOrEqual(few)
  })
})

test.each(backlogs)('a claim from a long queue is quick: %s', async (_title, rows) => {
  const sender = await createSender()
  await insertMany(database.db, sender, MANY, rows, { isAnalyzed: false })
  const begunAt = performance.now()
  expect(
    (await claimOperations(signer, { ...sender, lateSeconds }, 'signer')).length,
  ).toBeGreaterThan(0)
  // Of a second that a sender has for a bundle; it takes some 20 ms on a machine with nothing else to do.
  expect(performance.now() - begunAt).toBeLessThan(1_000)
})

describe('more accounts than a bundle has room for', () => {
  test('are served in turn: each has its first when some have their second', async () => {
    const accounts = 3 * BUNDLE + 7
    const sender = await createSender()
    await insertMany(database.db, sender, 3 * accounts, { account: `'acc' || n % ${accounts}` })
    const served: string[] = []
    const distinct: number[] = []
    for (let i = 0; i < 4; i++) {
      const taken = await claimOperations(database.db, { ...sender, lateSeconds }, 'signer')
      served.push(...taken.map(({ accountId }) => accountId))
      distinct.push(new Set(served).size)
    }
    expect(distinct).toEqual([BUNDLE, 2 * BUNDLE, 3 * BUNDLE, accounts])
  })

  test('a flood of one account is no more than its turn', async () => {
    const sender = await createSender()
    await insertMany(database.db, sender, 500, {})
    await insertMany(database.db, sender, 10, { account: `'other' || n`, wallet: `'other' || n` })
    const taken = await claimOperations(database.db, { ...sender, lateSeconds }, 'signer')
    const others = taken.filter(({ accountId }) => accountId.startsWith('other'))
    expect([taken.length, others.length]).toEqual([BUNDLE, 10])
  })
})
