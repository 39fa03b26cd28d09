import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  findChainState,
  insertChain,
  insertHeaders,
  readHeaders,
  type BlockId,
} from '../../../db/lanes/booking.js'
import {
  MANY_OPEN,
  bookEmpty,
  bookUnlessConcerned,
  type Concern,
} from '../../../db/lanes/emptyBlocks.js'
import { readBookedBlocks } from '../../../db/lanes/reservations.js'
import { newId } from '../../../db/connection/ids.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestOperation, insertTestWallet } from '../rows.js'

/** States in which an operation may turn up in a block. */
const OPEN = ['queued', 'deferred', 'signed']

let database: TestDatabase
let chains = 2_000
let own: number
let other: number

beforeAll(async () => {
  database = await createDatabase()
  await database.db('kek').insert({ id: 'kek', public_key: Buffer.alloc(32), active: true })
})
afterAll(() => database?.drop())
beforeEach(async () => {
  own = await createBooked()
  other = await createBooked()
})

const blockOf = (chain: number, number: bigint, fork = ''): BlockId => ({
  number,
  hash: `0x${chain}/${number}${fork}`,
})
const blocksOf = (chain: number, ...numbers: bigint[]) => numbers.map((n) => blockOf(chain, n))

/** Booked up to 100, final up to 80. */
async function createBooked(): Promise<number> {
  const id = ++chains
  const [finalized, at] = [blockOf(id, 80n), blockOf(id, 100n)]
  await insertChain(database.db, { id, name: `chain-${id}`, at, finalized })
  await insertHeaders(database.db, id, blocksOf(id, 85n, 90n))
  const lane = { chain_id: id, sender: 'lane', kek_id: 'kek', sealed_key: Buffer.alloc(1) }
  await database.db('lane').insert(lane)
  return id
}

/** Inserts an operation and tells its key. */
async function insertStep(chain: number, state: string, block?: bigint): Promise<string> {
  const wallet = await insertTestWallet(database.db)
  const intentId = await insertTestIntent(database.db, wallet, 'executing')
  const mined = block !== undefined && {
    ...{ block_number: block.toString(), block_hash: '0x', tx_hash: newId('0x'), log_index: 0 },
    ...{ success: true, gas_used: 0, gas_cost_usd: 0 },
  }
  const key = newId('key_')
  const waits = state === 'deferred' && { code: 'RPC_ERROR', retry_after: new Date() }
  const at = { chain_id: chain, chain_key: key, state, ...waits }
  await insertTestOperation(database.db, wallet, intentId, { ...at, ...mined })
  return key
}

let nonces = 0
async function insertTransaction(chain: number, values: object): Promise<void> {
  const nonce = ++nonces
  await database.db('chain_tx').insert({ chain_id: chain, sender: 'lane', nonce, ...values })
}
const minedIn = (block: bigint) => ({
  ...{ state: 'mined', mined_send: 1, block_number: block.toString(), block_hash: '0x' },
})

describe('what the next blocks have to do with rows', () => {
  const nothing: Concern = { openKeys: [], isAwaited: false, isDue: false }
  const bookedOf = async (chain: number) => {
    const state = await findChainState(database.db, chain)
    if (!state) throw new Error('The chain is not there.')
    return state.booked
  }

  /** What it is of the next block, which is booked if that is nothing. */
  async function concern(chain = own, isFinalTold = true): Promise<Concern> {
    const from = await bookedOf(chain)
    const next = blockOf(chain, from.number + 1n)
    const finalized = isFinalTold ? blockOf(chain, 80n) : undefined
    const following = { from, blocks: [next], finalized, confirmed: 100n }
    const told = await bookUnlessConcerned(database.db, chain, following)
    expect(await bookedOf(chain)).toEqual(told ? from : next)
    expect(told).not.toEqual(nothing)
    return told ?? nothing
  }

  test('is nothing where there are none, or all of them are over', async () => {
    expect(await concern()).toEqual(nothing)
    await insertStep(own, 'final', 70n)
    await insertStep(own, 'cancelled')
    expect(await concern()).toEqual(nothing)
  })

  test('outcomes may be of what waits', async () => {
    const keys = await Promise.all(OPEN.map((state) => insertStep(own, state)))
    const { openKeys, ...rest } = await concern()
    expect(openKeys.sort()).toEqual(keys.sort())
    expect([{ ...rest, openKeys: [] }, await concern(other)]).toEqual([nothing, nothing])
  })

  test('of many that wait some are told, so many that they are known to be many', async () => {
    const keys = new Set<string>()
    for (let i = 0; i <= MANY_OPEN; i++) keys.add(await insertStep(own, 'queued'))
    const { openKeys } = await concern()
    expect(openKeys).toHaveLength(MANY_OPEN)
    expect(new Set([...keys, ...openKeys])).toEqual(keys)
  })

  test('a transaction that is open may be in them', async () => {
    await insertTransaction(own, {})
    expect([await concern(), await concern(other)]).toEqual([
      { ...nothing, isAwaited: true },
      nothing,
    ])
  })

  test.each([
    ['mined', 100n, 101n],
    ['confirmed', 80n, 81n],
  ])(
    'what is %s in block %d is due, what is in the one above is not',
    async (state, due, later) => {
      await insertStep(own, state, later)
      expect(await concern()).toEqual(nothing)
      await insertStep(own, state, due)
      expect(await concern()).toEqual({ ...nothing, isDue: true })
      expect(await concern(other)).toEqual(nothing)
    },
  )

  test('so is a transaction that becomes final, where anything does', async () => {
    await insertTransaction(own, minedIn(81n))
    expect(await concern()).toEqual(nothing)
    await insertTransaction(own, minedIn(80n))
    expect([await concern(), await concern(other)]).toEqual([{ ...nothing, isDue: true }, nothing])
    expect(await concern(own, false)).toEqual(nothing)
  })
})

describe.each(['found to be so', 'unless they do'] as const)(
  'blocks that concern no row, %s',
  (way) => {
    const from = () => blockOf(own, 100n)
    const ways = {
      'found to be so': bookEmpty,
      'unless they do': async (...[db, chain, following]: Parameters<typeof bookEmpty>) => {
        const told = await bookUnlessConcerned(db, chain, { ...following, confirmed: 100n })
        expect(told).toBeUndefined()
      },
    }
    const book = (blocks: BlockId[], finalized?: BlockId, at = from()) =>
      ways[way](database.db, own, { from: at, blocks, finalized })
    const numbers = async (chain = own) =>
      (await readHeaders(database.db, chain)).map(({ number }) => number)

    test('move the booked block on and are kept, on their chain only', async () => {
      await book(blocksOf(own, 101n, 102n))
      const state = { booked: blockOf(own, 102n), finalizedBlock: 80n }
      expect(await findChainState(database.db, own)).toEqual(state)
      expect(await numbers()).toEqual([102n, 101n, 100n, 90n, 85n, 80n])
      const untouched = { booked: blockOf(other, 100n), finalizedBlock: 80n }
      expect(await findChainState(database.db, other)).toEqual(untouched)
      expect(await numbers(other)).toEqual([100n, 90n, 85n, 80n])
    })

    test('tell what gas costs in the last one, where its header does', async () => {
      const feeOf = async (chain: number) =>
        (await readBookedBlocks(database.db)).find(({ chainId }) => chainId === BigInt(chain))
          ?.baseFeeWei
      const blocks = [101n, 102n].map((n) => ({ ...blockOf(own, n), baseFeeWei: 10n ** 20n + n }))
      await book(blocks)
      expect([await feeOf(own), await feeOf(other)]).toEqual([10n ** 20n + 102n, undefined])
      await book(blocksOf(own, 103n), undefined, blockOf(own, 102n))
      expect(await feeOf(own)).toBeUndefined()
    })

    test('end the watch below a final block that is kept, or one of them', async () => {
      await book(blocksOf(own, 101n), blockOf(own, 90n))
      expect(await findChainState(database.db, own)).toMatchObject({ finalizedBlock: 90n })
      expect(await numbers()).toEqual([101n, 100n, 90n])
      expect(await numbers(other)).toEqual([100n, 90n, 85n, 80n])
      await book(blocksOf(own, 102n, 103n), blockOf(own, 103n), blockOf(own, 101n))
      expect(await findChainState(database.db, own)).toMatchObject({ finalizedBlock: 103n })
      expect(await numbers()).toEqual([103n])
    })

    test('end none by a final block of another fork', async () => {
      await book(blocksOf(own, 101n), blockOf(own, 90n, ' of a fork'))
      expect(await findChainState(database.db, own)).toMatchObject({ finalizedBlock: 80n })
      expect(await numbers()).toEqual([101n, 100n, 90n, 85n, 80n])
    })

    test('are booked by nobody who has been overtaken', async () => {
      const overtaken = book(blocksOf(own, 101n), blockOf(own, 90n), blockOf(own, 99n))
      await expect(overtaken).rejects.toThrow('The booked block has moved.')
      expect(await findChainState(database.db, own)).toMatchObject({ finalizedBlock: 80n })
      expect(await numbers()).toEqual([100n, 90n, 85n, 80n])
    })
  },
)
