import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { setExecuting } from '../../../db/intents/status.js'
import { createApiKey } from '../../../db/accounts/accounts.js'
import { tokenDigest } from '../../../db/accounts/sessions.js'
import { forgetEvents, insertTestIntent, setCompleted, type TestWallet } from '../../db/rows.js'
import { startWorld, type ApiWorld } from '../api.js'
import { openEvents, type EventClient } from '../eventClient.js'
import { PASSWORD, cookieOf, newPerson, pagesOf, tokenIn, type Person } from './people.js'

/** One may be under way that has asked before, and the next one may begin before the end has come. */
const MOST_POLLS = 5

let world: ApiWorld
let worker: Db
let pages: ReturnType<typeof pagesOf>
let owner: Person
let viewer: Person
let wallet: TestWallet
let clients: EventClient[] = []

beforeAll(async () => {
  world = await startWorld(undefined, { streamLimits: { pollMs: 100 } })
  worker = connect(world.database.urlAs('steward_worker'), 2)
  pages = pagesOf(world)
})
beforeEach(async () => {
  owner = await newPerson(world)
  viewer = await newPerson(world, { accountId: owner.accountId, role: 'viewer' })
  wallet = await newWallet(owner)
})
afterEach(() => {
  for (const client of clients) client.close()
  clients = []
})
afterAll(async () => {
  await worker?.destroy()
  await world?.stop()
})

async function newWallet({ accountId }: Person): Promise<TestWallet> {
  const id = newId('svc_wallet_')
  const address = `0x${newId('')}`
  const row = { id, account_id: accountId, user_id: 'alice', address, metadata: '{}' }
  await world.database.db('wallet').insert(row)
  await forgetEvents(world.database.db, accountId)
  return { id, accountId, address, requestId: 'req_test' }
}

/** As an EventSource of a page does it: with the cookie, and without an Origin. */
async function open(path: string, { cookie }: { cookie: string }, headers = {}) {
  const url = `${world.api.url}/dashboard/api${path}`
  const client = await openEvents(url, { headers: { cookie, ...headers } })
  clients.push(client)
  return client
}

/** What the account has paid, and of its minute. */
const readUse = (): Promise<unknown> =>
  world.database.db('account').where({ id: owner.accountId }).first('total_used', 'win_used')

/** How often it was asked who of those with a session may stay, since now. */
function countPolls(): { count: () => number; stop: () => void } {
  let polls = 0
  const note = ({ sql }: { sql: string }) => {
    if (sql.includes('live_sessions')) polls += 1
  }
  world.db.on('query', note)
  return { count: () => polls, stop: () => world.db.removeListener('query', note) }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const newIntent = () => insertTestIntent(world.database.db, wallet, 'planning')
const typesOf = ({ events }: EventClient) => events.map(({ event }) => event)
const timeline = ['intent.created', 'intent.planned', 'intent.executing', 'intent.completed']

describe('GET /events and /intents/:intentId/events by session', () => {
  test('send events to a viewer as they happen, without an Origin and free of charge', async () => {
    const before = await readUse()
    const all = await open('/events', viewer)
    expect([all.status, all.headers['content-type']]).toEqual([200, 'text/event-stream'])
    const id = await newIntent()
    const one = await open(`/intents/${id}/events`, viewer)
    await Promise.all([all.until(2), one.until(2)])
    await setExecuting(worker, id)
    await Promise.all([all.until(3), one.until(3)])
    await setCompleted(worker, id)
    await Promise.all([all.until(4), one.ended])
    expect([typesOf(all), typesOf(one)]).toEqual([timeline, timeline])
    expect(all.events).toEqual(one.events)
    expect(await readUse()).toEqual(before)
  })

  test('resume after the last event and repeat none', async () => {
    const id = await newIntent()
    const first = await open('/events', viewer, { 'last-event-id': 'evt_0' })
    await first.until(2)
    first.close()
    await setExecuting(worker, id)
    const again = await open('/events', viewer, { 'last-event-id': first.lastEventId })
    await again.until(1)
    await setCompleted(worker, id)
    await again.until(2)
    expect([...typesOf(first), ...typesOf(again)]).toEqual(timeline)
  })

  test('send no events of another account', async () => {
    const stranger = await newPerson(world)
    const theirs = await open('/events', stranger, { 'last-event-id': 'evt_0' })
    const mine = await open('/events', viewer, { 'last-event-id': 'evt_0' })
    const id = await newIntent()
    await mine.until(2)
    const answer = await pages('GET', `/intents/${id}/events`, { cookie: stranger.cookie })
    expect([answer.status, answer.body.error]).toEqual([404, 'INTENT_NOT_FOUND'])
    await setExecuting(worker, id)
    await mine.until(3)
    expect(theirs.events).toEqual([])
  })

  test('error: UNAUTHORIZED without credentials, for an API key and for an expired session', async () => {
    const id = await newIntent()
    const key = await createApiKey(world.database.db, owner.accountId, { name: 'test' })
    await pages('POST', '/session/end', { cookie: viewer.cookie })
    for (const path of ['/events', `/intents/${id}/events`]) {
      const asked = [{}, { key }, { headers: { cookie: viewer.cookie } }]
      const answers = await Promise.all(
        asked.map((request) => world.api.call('GET', `/dashboard/api${path}`, request)),
      )
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    }
  })
})

describe('a stream by session', () => {
  const sessionOf = ({ cookie }: Person) =>
    world.database.db('user_session').where({ token_hash: tokenDigest(tokenIn(cookie)) })
  const ago = (time: string) => world.database.db.raw('clock_timestamp() - ?::interval', [time])

  /** Ways to end the viewer's session and no other. */
  const ends: [why: string, end: () => Promise<unknown>][] = [
    ['he signs out', () => pages('POST', '/session/end', { cookie: viewer.cookie })],
    [
      'they change their password in another browser',
      async () => {
        const body = { email: viewer.email, password: PASSWORD }
        const cookie = cookieOf(await pages('POST', '/session', { body }))
        const change = { current: PASSWORD, next: 'another long password' }
        const answer = await pages('POST', '/password', { cookie, body: change })
        expect(answer.status).toBe(200)
      },
    ],
    [
      'an owner removes them',
      async () => {
        const path = `/members/${viewer.userId}/remove`
        expect((await pages('POST', path, { cookie: owner.cookie })).status).toBe(200)
      },
    ],
    ['their thirty days have passed', () => sessionOf(viewer).update({ expires_at: ago('0 s') })],
    [
      'he has asked for nothing for a week',
      () => sessionOf(viewer).update({ last_seen_at: ago('7 days') }),
    ],
  ]

  test.each(ends)('ends within a few polls when %s; others go on', async (_why, end) => {
    const own = [
      await open('/events', viewer),
      await open(`/intents/${await newIntent()}/events`, viewer),
    ]
    const other = await open('/events', owner)
    await end()
    const polls = countPolls()
    let areOver = false
    void Promise.all(own.map(({ ended }) => ended)).then(() => (areOver = true))
    while (!areOver && polls.count() <= MOST_POLLS) await pause(5)
    polls.stop()
    expect(areOver).toBe(true)
    await newIntent()
    await other.until(2)
  })

  test('continues with another role that may read', async () => {
    const stream = await open('/events', viewer)
    const body = { role: 'developer' }
    const path = `/members/${viewer.userId}/role`
    expect((await pages('POST', path, { cookie: owner.cookie, body })).status).toBe(200)
    const polls = countPolls()
    while (polls.count() < 3) await pause(5)
    polls.stop()
    await newIntent()
    await stream.until(2)
  })

  test('ends for all members when the account is suspended', async () => {
    const streams = [await open('/events', viewer), await open('/events', owner)]
    const suspended_at = world.database.db.raw('clock_timestamp()')
    await world.database.db('account').where({ id: owner.accountId }).update({ suspended_at })
    await Promise.all(streams.map(({ ended }) => ended))
  })
})
