import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertReservation, lockWallet, releaseUnsigned } from '../../../db/intents/reservations.js'
import { readReservedAmounts, type TokenAtBlock } from '../../../db/intents/reservedAmounts.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../rows.js'

const chainId = 421_614
const token = '0x00000000000000000000000000000000000000Aa'
const units = 1_000_000n

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

async function reserve(wallet: TestWallet, values: Record<string, unknown> = {}): Promise<string> {
  const intentId = await insertTestIntent(database.db, wallet, 'planning')
  await insertReservation(database.db, {
    ...{ intentId, sequence: 1, walletId: wallet.id, chainId, token, units },
  })
  if (Object.keys(values).length > 0) {
    await database.db('reservation').where({ intent_id: intentId }).update(values)
  }
  return intentId
}

const tokenBalance = (number: bigint, of = token, chain = BigInt(chainId)) => ({
  token: of,
  at: { chainId: chain, number, hash: '0x' },
})
async function readReserved({ id }: TestWallet, tokens: TokenAtBlock[]): Promise<bigint[]> {
  const others = { blocks: [], capacities: [], markets: [] }
  return (await readReservedAmounts(database.db, id, { ...others, tokens })).reserved
}
async function reservedAt(
  wallet: TestWallet,
  ...at: Parameters<typeof tokenBalance>
): Promise<bigint> {
  const [reserved] = await readReserved(wallet, [tokenBalance(...at)])
  return reserved as bigint
}

/** Counted at block b when from_block <= b and (unspent: not released; spent: above b). */
const released = { released_at: new Date() }
const rows: [string, Record<string, unknown>, counted: boolean][] = [
  ['a new one', {}, true],
  ['released', released, false],
  ['spent in the block', { spent_block: 10 }, false],
  ['spent before the block', { spent_block: 9 }, false],
  ['spent after the block: the balance still shows the money', { spent_block: 11 }, true],
  ['spent after the block, though released', { spent_block: 11, ...released }, true],
  ['spent in the block, though released', { spent_block: 10, ...released }, false],
  ['fed by a step without an output yet', { fed_by: 1, from_block: null }, false],
  ['fed in the block', { fed_by: 1, from_block: 10 }, true],
  ['fed after the block: the balance does not show it yet', { fed_by: 1, from_block: 11 }, false],
  ['fed and spent after the block', { fed_by: 1, from_block: 11, spent_block: 12 }, false],
  ['fed before and spent after the block', { fed_by: 1, from_block: 9, spent_block: 11 }, true],
  ['fed and spent before the block', { fed_by: 1, from_block: 8, spent_block: 9 }, false],
]

describe('readReserved', () => {
  test.each(rows)('%s', async (_title, values, counted) => {
    const wallet = await insertTestWallet(database.db)
    await reserve(wallet, values)
    expect(await reservedAt(wallet, 10n)).toBe(counted ? units : 0n)
  })

  test('balance and reservation show the money exactly once, at each block', async () => {
    const wallet = await insertTestWallet(database.db)
    await reserve(wallet, { spent_block: 10 })
    const balanceAt = (block: bigint) => (block >= 10n ? 0n : units)
    for (const block of [8n, 9n, 10n, 11n]) {
      expect(balanceAt(block) - (await reservedAt(wallet, block))).toBe(0n)
    }
  })

  test('sums only this wallet, chain and token', async () => {
    const wallet = await insertTestWallet(database.db)
    const other = await insertTestWallet(database.db)
    for (const owner of [wallet, wallet, other]) await reserve(owner)
    expect(await reservedAt(wallet, 10n)).toBe(2n * units)
    expect(await reservedAt(wallet, 10n, token.replace('Aa', 'bb'))).toBe(0n)
    expect(await reservedAt(wallet, 10n, token, 1n)).toBe(0n)
  })

  test('returns each of several tokens at its own block, in their order', async () => {
    const wallet = await insertTestWallet(database.db)
    await reserve(wallet, { spent_block: 10 })
    const foreign = token.replace('Aa', 'bb')
    const tokens = [
      tokenBalance(10n),
      tokenBalance(9n),
      tokenBalance(9n, foreign),
      tokenBalance(9n, token, 1n),
      tokenBalance(8n),
    ]
    expect(await readReserved(wallet, tokens)).toEqual([0n, units, 0n, 0n, units])
    expect(await readReserved(wallet, [])).toEqual([])
  })

  test('finds a token in any case of its address', async () => {
    const wallet = await insertTestWallet(database.db)
    await reserve(wallet)
    expect(await reservedAt(wallet, 10n, token.toLowerCase())).toBe(units)
  })

  test('is exact beyond the range of a float', async () => {
    const wallet = await insertTestWallet(database.db)
    const huge = (2n ** 255n + 1n).toString()
    await reserve(wallet, { units: huge })
    expect(await reservedAt(wallet, 10n)).toBe(BigInt(huge))
  })

  test('error: a second reservation of a step', async () => {
    const wallet = await insertTestWallet(database.db)
    const intentId = await reserve(wallet)
    const again = insertReservation(database.db, {
      ...{ intentId, sequence: 1, walletId: wallet.id, chainId, token, units },
    })
    await expect(again).rejects.toMatchObject({ code: '23505' })
  })
})

describe('releaseUnsigned', () => {
  test.each([
    [undefined, true],
    ['queued', true],
    ['deferred', true],
    ['rejected', true],
    ['cancelled', true],
    ['signed', false],
    ['mined', false],
    ['confirmed', false],
    ['final', false],
  ])('operation %s: the money is released is %p', async (state, isReleased) => {
    const { db } = database
    const wallet = await insertTestWallet(db)
    const intentId = await reserve(wallet)
    const inBlock = ['mined', 'confirmed', 'final'].includes(state ?? '')
    if (state) {
      await insertTestOperation(db, wallet, intentId, {
        state,
        ...(state === 'deferred' ? { code: 'RPC_ERROR', retry_after: new Date() } : {}),
        ...(inBlock ? { block_hash: '0x' } : {}),
      })
    }
    await releaseUnsigned(db, intentId)
    expect(await reservedAt(wallet, 10n)).toBe(isReleased ? 0n : units)
  })

  test('changes no other intents, and keeps the time of the first release', async () => {
    const { db } = database
    const wallet = await insertTestWallet(db)
    const [first, second] = [await reserve(wallet), await reserve(wallet)]
    await releaseUnsigned(db, first)
    const readTime = () =>
      db('reservation').where({ intent_id: first }).first<{ released_at: Date }>('released_at')
    const before = await readTime()
    await releaseUnsigned(db, first)
    expect(await readTime()).toEqual(before)
    expect(await reservedAt(wallet, 10n)).toBe(units)
    expect(second).not.toBe(first)
  })
})

describe('lockWallet', () => {
  test('serializes the intents of a wallet, and delays no others', async () => {
    const { db } = database
    const [wallet, other] = [await insertTestWallet(db), await insertTestWallet(db)]
    const order: string[] = []
    await db
      .transaction(async (trx) => {
        await lockWallet(trx, wallet.id)
        const waiting = db
          .transaction((second) => lockWallet(second, wallet.id))
          .then(() => order.push('second'))
        await db.transaction((third) => lockWallet(third, other.id))
        // Rows that reference the wallet, such as a funding, do not wait either.
        await insertTestIntent(db, wallet, 'pending')
        order.push('first')
        return { waiting }
      })
      .then(({ waiting }) => waiting)
    expect(order).toEqual(['first', 'second'])
  })
})
