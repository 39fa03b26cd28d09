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
/** The most operations of one claim. */
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

/** The only sender of a new chain. */
async function createSender(db = database.db): Promise<Sender> {
  const own = { address: newId('0x'), kekId: 'kek', sealedKey: Buffer.alloc(1) }
  const { address, kekId: kek_id, sealedKey: sealed_key } = own
  await db('sender').insert({ chain_id: ++chains, sender: address, kek_id, sealed_key })
  return { ...own, chainId: BigInt(chains), purpose: 'operations' }
}

/** The differences between rows, as SQL over the row number `n`. */
type BacklogRow = {
  account?: string
  wallet?: string
  kind?: string
  resource?: string
  state?: string
}

/** Inserts rows without their references: keys and triggers are off. */
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
      `insert into operation (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, input_units,
         min_block, state, priority, resource, created_at)
       select ? || n, ? || n, 1, ?, ${account}, ${wallet}, ?, ? || n, 1, 0, ?, 3, ${resource},
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
  ['one account per operation', { account: `'acc' || n` }],
  ['swaps of one pair', { kind: 'swap', resource: `'swap:A/B'` }],
  ['one burn per wallet', { kind: 'bridge', resource: `'burn:' || n` }],
]

describe('statements over a long queue read as many rows as over a short one', () => {
  async function readOf(rows: BacklogRow, ask: (trx: Db, sender: Sender) => Promise<unknown>) {
    const counts: number[] = []
    for (const count of [FEW, MANY]) {
      const sender = await createSender()
      await insertMany(database.db, sender, count, rows)
      counts.push(await countRead((trx) => ask(trx, sender)))
    }
    return counts as [few: number, many: number]
  }

  test('readContenders', async () => {
    const resources = ['deposit:0x01']
    const [few, many] = await readOf({ resource: `'deposit:0x01'` }, (trx, { chainId }) =>
      readContenders(trx, { chainId: Number(chainId), resources, head: 1n, ids: [] }),
    )
    expect(many).toBeLessThanOrEqual(few)
  })

  test.each([
    ['all', {}],
    ['a wallet', { walletId: 'wallet' }],
  ])('findWaitingForLimit of %s', async (_title, counted) => {
    const [few, many] = await readOf({ wallet: `'wallet'` }, (trx) =>
      areOthersWaiting(trx, 'mine', counted),
    )
    expect(many).toBeLessThanOrEqual(few)
  })
})

test.each(backlogs)('claimOperations is fast with a long queue: %s', async (_title, rows) => {
  const sender = await createSender()
  await insertMany(database.db, sender, MANY, rows, { isAnalyzed: false })
  const begunAt = performance.now()
  expect(
    (await claimOperations(signer, { ...sender, lateSeconds }, 'signer')).length,
  ).toBeGreaterThan(0)
  // The sender has about a second per bundle. The claim takes some 20 ms on an idle machine.
  expect(performance.now() - begunAt).toBeLessThan(1_000)
})

describe('claimOperations with more accounts than a bundle holds', () => {
  test('serves them in turn: each account gets its first before any gets its second', async () => {
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

  test('a flood of one account gets only its turn', async () => {
    const sender = await createSender()
    await insertMany(database.db, sender, 500, {})
    await insertMany(database.db, sender, 10, { account: `'other' || n`, wallet: `'other' || n` })
    const taken = await claimOperations(database.db, { ...sender, lateSeconds }, 'signer')
    const others = taken.filter(({ accountId }) => accountId.startsWith('other'))
    expect([taken.length, others.length]).toEqual([BUNDLE, 10])
  })
})
