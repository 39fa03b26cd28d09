import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listenToOperations, type Listener } from '../../db/client/listen.js'
import { driveChain } from '../../relayer/driveChain.js'
import { awaitOperation, watchOutcomes } from '../../operations/watchOutcomes.js'
import { outcomeOf } from '../../operations/outcome.js'
import { findOperation } from '../../operations/operations.js'
import { watchQueue } from '../../operations/queue.js'
import { runSigner } from '../../signer/sign.js'
import { createWorld, usdcUnits, type World } from './world/fixture.js'

describe('signer and driver loops', () => {
  let world: World
  let stopping: AbortController
  let listener: Listener
  let running: Promise<unknown>

  beforeAll(async () => {
    world = await createWorld({ blockTimeSeconds: 0.1, changes: { pollMs: 25 } })
    await world.driver().db.destroy()
  })
  beforeEach(() => {
    stopping = new AbortController()
    const { signal } = stopping
    const url = world.database.urlAs('steward_relayer')
    listener = listenToOperations(url, signal)
    running = Promise.all([
      runSigner(world.signer, watchQueue(listener, signal, ['queued']), signal),
      driveChain({ url, client: world.createClient(), listener, log: world.log }, signal),
    ])
  })
  afterEach(async () => {
    stopping.abort()
    await running
  })
  afterAll(() => world?.stop())

  /** Waits for an operation like an activity. */
  const lendAndWait = async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    const row = await findOperation(world.workerDb, operationId)
    if (!row) throw new Error('No row.')
    const outcomes = watchOutcomes({ db: world.workerDb, listener, stopping: stopping.signal })
    const limit = AbortSignal.timeout(10_000)
    const last = await awaitOperation({ db: world.workerDb, outcomes }, row, limit)
    return outcomeOf(last)
  }

  test('confirm an operation', async () => {
    expect(await lendAndWait()).toMatchObject({ kind: 'done', units: usdcUnits })
  })

  test('continue when notifications are lost', async () => {
    await world.waitUntil(async () => {
      const { rows } = await world.db.raw<{ rows: unknown[] }>(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query = 'listen operation'`,
      )
      return rows.length > 0
    })
    await world.db.raw('alter table operation disable trigger operation_ordered')
    const outcome = await lendAndWait()
    await world.db.raw('alter table operation enable trigger operation_ordered')
    expect(outcome).toMatchObject({ kind: 'done', units: usdcUnits })
  })

  test('survive an invalid notification', async () => {
    await world.db.raw(`select pg_notify('operation', 'nonsense'), pg_notify('operation', '')`)
    expect(await lendAndWait()).toMatchObject({ kind: 'done' })
  })

  test('continue after the loss of all connections', async () => {
    // Lets the loops start.
    await lendAndWait()
    await world.db.raw(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and wait_event = 'ClientRead'`,
    )
    expect(await lendAndWait()).toMatchObject({ kind: 'done' })
  })
})

describe('watchQueue', () => {
  const listenerOf = () => {
    const subscribers = new Set<Parameters<Listener['subscribe']>[0]>()
    const publish = (state: string, chainId?: number) => {
      for (const notify of subscribers) notify({ id: '1', state, chainId })
    }
    return {
      publish,
      subscribe: (notify: Parameters<Listener['subscribe']>[0]) => {
        subscribers.add(notify)
        return () => subscribers.delete(notify)
      },
    }
  }

  test('wakes a waiter after an earlier wait was abandoned', async () => {
    const listener = listenerOf()
    const next = watchQueue(listener, new AbortController().signal, ['queued'])
    void next(10)
    // Longer than the test: only the notification ends it.
    const wait = next(600_000)
    await new Promise((resolve) => setTimeout(resolve, 30))
    listener.publish('queued')
    await expect(wait).resolves.toBe('queued')
  })

  test('a change of a chain wakes the waiters for it and for any chain, and no others', async () => {
    const listener = listenerOf()
    const next = watchQueue(listener, new AbortController().signal, ['queued'])
    const woken: string[] = []
    const waits = { one: 1, two: 2, any: undefined }
    const all = Object.entries(waits).map(([name, chainId]) =>
      next(600_000, chainId).then(() => woken.push(name)),
    )
    listener.publish('queued', 1)
    await Promise.all([all[0], all[2]])
    expect(woken).toEqual(['one', 'any'])
    listener.publish('queued')
    await all[1]
    expect(woken).toEqual(['one', 'any', 'two'])
  })
})
