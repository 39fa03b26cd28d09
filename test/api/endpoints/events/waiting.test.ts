import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { getEventListeners } from 'node:events'
import { readUntil } from '../../../../api/endpoints/readUntil.js'
import { insertFunding } from '../../../../db/intents/fundings.js'
import { setExecuting, setFailed } from '../../../../db/intents/status.js'
import { setCompleted } from '../../../db/rows.js'
import { startEventWorld, type Customer, type EventWorld } from './world.js'
import type { Services } from '../../../../api/http/services.js'

let events: EventWorld
let me: Customer
let intentId: string

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200, perAccount: 3 })
})
beforeEach(async () => {
  me = await events.newCustomer()
  intentId = await events.newIntent(me)
})
afterAll(() => events?.stop())

const read = async (query = '') => {
  const path = `/v1/intents/${intentId}${query}`
  const answer = await events.world.api.call('GET', path, { key: me.key })
  return { ...answer, version: answer.headers.get('x-intent-version') ?? '' }
}
/** Resolves when requests of a customer were let in. */
async function untilWaiting(count = 1, { world } = events, { accountId } = me) {
  const { db } = world.database
  for (;;) {
    const row = await db('account').where({ id: accountId }).first<{ win_used: number }>('win_used')
    if (row.win_used >= count) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('GET /v1/intents/:intentId?wait', () => {
  test('responds at the next change, at the price of a read', async () => {
    const waiting = read('?wait=60')
    await untilWaiting()
    await setExecuting(events.worker, intentId)
    const { status, body, headers } = await waiting
    expect([status, body.status]).toEqual([200, 'executing'])
    expect(headers.get('x-credits-charged')).toBe('1')
  })

  test('answers at once what has changed since the version that the client knows', async () => {
    const { version } = await read()
    await setExecuting(events.worker, intentId)
    const changed = await read(`?wait=60&version=${version}`)
    expect(changed.body.status).toBe('executing')
    expect(changed.version).not.toBe(version)
  })

  test('a client that asks again and again misses no state', async () => {
    const seen = ['planning']
    let { version } = await read()
    const change = [setExecuting, setCompleted]
    for (const next of change) {
      const waiting = read(`?wait=60&version=${version}`)
      await next(events.worker, intentId)
      const answer = await waiting
      version = answer.version
      seen.push(String(answer.body.status))
    }
    expect(seen).toEqual(['planning', 'executing', 'completed'])
  })

  test('an intent that has ended answers at once', async () => {
    await setFailed(events.worker, intentId, { code: 'DEPOSIT_FAILED', message: 'x', step: 1 })
    const { version } = await read()
    expect((await read(`?wait=60&version=${version}`)).body.status).toBe('failed')
  })

  test('without a change, the same state is returned after that time', async () => {
    const { version, body } = await read()
    const late = await read(`?wait=1&version=${version}`)
    expect([late.status, late.version, late.body]).toEqual([200, version, body])
  })

  test('waiting requests are answered when the process stops', async () => {
    const waiting = read('?wait=60')
    await untilWaiting()
    const other = await startEventWorld({})
    try {
      const customer = await other.newCustomer()
      const id = await other.newIntent(customer)
      const path = `/v1/intents/${id}?wait=60`
      const pending = other.world.api.call('GET', path, { key: customer.key })
      await untilWaiting(1, other, customer)
      await other.world.api.drain()
      expect((await pending).body.status).toBe('planning')
    } finally {
      await other.stop()
    }
    await setExecuting(events.worker, intentId)
    expect((await waiting).status).toBe(200)
  })

  test.each(['61', '-1', 'x', '1.5', ''])('error: INVALID_REQUEST for %s', async (wait) => {
    expect((await read(`?wait=${wait}`)).status).toBe(400)
  })

  test('error: RATE_LIMITED above the streams of an account, until one closes', async () => {
    const waiting = [read('?wait=60'), read('?wait=60'), read('?wait=60')]
    await untilWaiting(3)
    const refused = await read('?wait=60')
    expect([refused.status, refused.body.details.window]).toEqual([429, 'open streams'])
    await setExecuting(events.worker, intentId)
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200)
    expect((await read('?wait=1')).status).toBe(200)
  })
})

describe('GET /v1/demo/fund/:fundingId?wait', () => {
  test('error: RATE_LIMITED above the streams of an account', async () => {
    const { db } = events.world.database
    const { accountId, id: walletId } = me
    const { id } = await insertFunding(db, { accountId, walletId, chainId: 421_614, units: 1n })
    const readFunding = () =>
      events.world.api.call('GET', `/v1/demo/fund/${id}?wait=2`, { key: me.key })
    const answers = await Promise.all([1, 2, 3, 4].map(readFunding))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429])
  })
})

describe('readUntil', () => {
  test('a wait that the database rejects releases its seat and all listeners', async () => {
    const [gone, closing] = [new AbortController().signal, new AbortController().signal]
    let seats = 0
    const takeSeat = () => {
      seats += 1
      return () => {
        seats -= 1
      }
    }
    const services = {
      db: { raw: () => Promise.reject(new Error('away')) },
      streams: { takeSeat, closing, fanOut: { join: () => undefined } },
    } as unknown as Services
    const waiting = {
      ...{ accountId: 'a', filter: { intentId: 'i' }, seconds: 60, gone },
      isEnough: () => false,
    }
    const read = () => Promise.reject(new Error('not read'))
    await expect(readUntil(services, waiting, read)).rejects.toThrow('away')
    expect(seats).toBe(0)
    for (const signal of [gone, closing]) expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
