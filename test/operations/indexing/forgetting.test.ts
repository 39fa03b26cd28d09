import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { forgetBytes } from '../../../operations/signing/replacing.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
let worker: Db

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 1)
  const { db } = database
  await db('kek').insert({ id: 'kek', public_key: Buffer.alloc(32), active: true })
  const sender = { chain_id: 1, sender: 'sender', kek_id: 'kek', sealed_key: Buffer.alloc(1) }
  await db('sender').insert(sender)
})
afterAll(async () => {
  await worker.destroy()
  await database.drop()
})

let nonce = 0
/** A transaction with two sends, a number of days ago. */
async function insertSent(state: string, days: number): Promise<string> {
  const { db } = database
  const isIn = state === 'mined' || state === 'final'
  const block = isIn ? { block_number: 1, block_hash: '0x1', mined_send: 2 } : {}
  const [row] = await db('chain_tx')
    .insert({ chain_id: 1, sender: 'sender', nonce: ++nonce, state: 'open' })
    .returning<{ id: bigint }[]>('id')
  const id = String(row?.id)
  const created_at = new Date(Date.now() - days * 86_400_000)
  for (const n of [1, 2]) {
    const send = { tx_id: id, n, hash: `0x${id}/${n}`, raw: '0xf00d', max_fee: n, created_at }
    await db('chain_tx_send').insert(send)
  }
  await db('chain_tx')
    .where({ id })
    .update({ state, ...block })
  return id
}
const sendsOf = (id: string) =>
  database.db('chain_tx_send').where({ tx_id: id }).orderBy('n').select('hash', 'raw', 'max_fee')

describe('forgetBytes', () => {
  test('empties bytes of transactions final or lost for a month in batches, and keeps hashes, fees and nonces', async () => {
    const gone = [await insertSent('final', 40), await insertSent('lost', 31)]
    const kept = [
      ...[await insertSent('open', 90), await insertSent('mined', 90)],
      await insertSent('final', 29),
    ]
    expect(await forgetBytes(worker, 3)).toBe(3)
    expect(await forgetBytes(worker, 3)).toBe(1)
    expect(await forgetBytes(worker, 3)).toBe(0)
    for (const id of gone) {
      expect(await sendsOf(id)).toEqual([
        { hash: `0x${id}/1`, raw: '', max_fee: '1' },
        { hash: `0x${id}/2`, raw: '', max_fee: '2' },
      ])
    }
    for (const id of kept) {
      expect((await sendsOf(id)).map(({ raw }: { raw: string }) => raw)).toEqual([
        '0xf00d',
        '0xf00d',
      ])
    }
    expect(await database.db('chain_tx').select('id')).toHaveLength(5)
  })
})
