import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as sdk from '@steward/sdk'
import { Steward, type Event, type Fetch, type StewardOptions } from '@steward/sdk'
import { setExecuting, setFailed } from '../../../db/intents/status.js'
import { setCompleted } from '../../db/rows.js'
import {
  startEventWorld,
  type Customer,
  type EventWorld,
} from '../../api/endpoints/events/world.js'
import { startApi, type TestApi } from '../../api/api.js'
import { silentChains } from '../../planning/chains.js'
import { startScripted } from './scripted.js'

let events: EventWorld
let api: TestApi
let me: Customer
let intentId: string

const story = ['intent.created', 'intent.planned', 'intent.executing', 'intent.completed']
const database = () => events.world.database.db

/** The API as a process of its own would be: it goes away and comes back at the same address. */
async function startOwnApi(port = 0): Promise<TestApi> {
  const listenUrl = events.world.database.urlAs('steward_api')
  const { db, temporal } = events.world
  return startApi({ db, temporal: temporal.client, listenUrl, port, ...silentChains() })
}

beforeAll(async () => {
  events = await startEventWorld({})
})
beforeEach(async () => {
  me = await events.newCustomer()
  intentId = await events.newIntent(me)
  api = await startOwnApi()
})
afterEach(() => api?.stop())
afterAll(() => events?.stop())

const clientOf = (options: StewardOptions = {}) =>
  new Steward({ apiKey: me.key, baseUrl: api.url, ...options })

/** What is told to `onEvent`, and a promise for the time when so many are. */
function listen() {
  const told: Event[] = []
  let wake = () => undefined as void
  return {
    told,
    types: () => told.map(({ type }) => type),
    onEvent(event: Event) {
      told.push(event)
      wake()
    },
    async until(count: number) {
      while (told.length < count) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

/** The events of the intent as they are stored. */
async function stored(): Promise<string[]> {
  const rows = database()('intent_event').where({ intent_id: intentId }).orderBy('id')
  return (await rows.pluck<bigint[]>('id')).map((id) => `evt_${id}`)
}

/** A `fetch` through which no stream passes. */
const withoutStreams: Fetch = (url, init) =>
  url.endsWith('/events')
    ? Promise.resolve(new Response('<html>', { status: 502 }))
    : fetch(url, init)

describe('intents.waitForCompletion', () => {
  test('tells every event once, in order, and answers with the completed intent', async () => {
    const { told, types, onEvent, until } = listen()
    const waiting = clientOf().intents.waitForCompletion(intentId, { onEvent })
    await until(2)
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    expect(await waiting).toMatchObject({ id: intentId, status: 'completed' })
    expect(types()).toEqual(story)
    expect(told.map(({ id }) => id)).toEqual(await stored())
  })

  test.each([
    ['by a stream', fetch],
    ['by polling, where no stream passes', withoutStreams],
  ])(
    '%s it outlives the API, and misses nothing of what happens meanwhile',
    async (_how, through: Fetch) => {
      let failures = 0
      const counting: Fetch = (url, init) =>
        through(url, init).catch((error: unknown) => {
          failures += 1
          throw error
        })
      const { told, types, onEvent, until } = listen()
      const waiting = clientOf({ fetch: counting }).intents.waitForCompletion(intentId, { onEvent })
      await until(2)
      await api.stop()
      await setExecuting(events.worker, intentId)
      while (failures < 2) await new Promise((resolve) => setTimeout(resolve, 20))
      api = await startOwnApi(api.port)
      await setCompleted(events.worker, intentId)
      expect(await waiting).toMatchObject({ status: 'completed' })
      expect(types()).toEqual(story)
      expect(told.map(({ id }) => id)).toEqual(await stored())
    },
  )

  test('a stream that falls silent is given up: what has happened is found without it', async () => {
    const mute: Fetch = (url, init) =>
      url.endsWith('/events')
        ? Promise.resolve(new Response(new ReadableStream(), { headers: eventStream }))
        : fetch(url, init)
    const client = clientOf({ fetch: mute, idleMs: 100 })
    const { types, onEvent, until } = listen()
    const waiting = client.intents.waitForCompletion(intentId, { onEvent })
    await until(2)
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    expect(await waiting).toMatchObject({ status: 'completed' })
    expect(types()).toEqual(story)
  })

  test('goes on in another client where this one was stopped', async () => {
    const controller = new AbortController()
    const { told, onEvent, until } = listen()
    const { signal } = controller
    const waiting = clientOf().intents.waitForCompletion(intentId, { onEvent, signal })
    await until(2)
    controller.abort(new Error('shut down'))
    await expect(waiting).rejects.toThrow('shut down')
    await setExecuting(events.worker, intentId)

    // Nothing but the id of the intent and of the last event is known there.
    const rest = listen()
    const other = clientOf().intents.waitForCompletion(intentId, {
      ...{ onEvent: rest.onEvent, after: told.at(-1)?.id },
    })
    await rest.until(1)
    await setCompleted(events.worker, intentId)
    expect((await other).status).toBe('completed')
    const ids = [...told, ...rest.told].map(({ id }) => id)
    expect(ids).toEqual(await stored())
  })

  test('an intent that is over already answers at once, and tells its story where it is wanted', async () => {
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    const { types, onEvent } = listen()
    await clientOf().intents.waitForCompletion(intentId, { onEvent })
    expect(types()).toEqual(story)
    const rest = listen()
    const [after] = await stored()
    await clientOf().intents.waitForCompletion(intentId, { onEvent: rest.onEvent, after })
    expect(rest.types()).toEqual(story.slice(1))
  })

  test('error: a failed intent is thrown by its code, although its money is still awaited', async () => {
    const error = { code: 'BRIDGE_TIMEOUT', message: 'It is late.', step: 1 } as const
    const waiting = clientOf().intents.waitForCompletion(intentId)
    await setExecuting(events.worker, intentId)
    await setFailed(events.worker, intentId, error)
    const thrown = await waiting.catch((cause: unknown) => cause as sdk.BridgeTimeoutError)
    expect(thrown).toBeInstanceOf(sdk.BridgeTimeoutError)
    expect(thrown).toBeInstanceOf(sdk.IntentFailedError)
    expect(thrown).toMatchObject({ code: 'BRIDGE_TIMEOUT', intent: { id: intentId, error } })
  })

  test('a read token is enough, and goes where it may only', async () => {
    const { token } = await clientOf().intents.createReadToken(intentId)
    const paths: string[] = []
    const noting: Fetch = (url, init) => {
      paths.push(new URL(url).pathname)
      return withoutStreams(url, init)
    }
    const { onEvent } = listen()
    const browser = clientOf({ apiKey: token, fetch: noting })
    const waiting = browser.intents.waitForCompletion(intentId, { onEvent })
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    expect(await waiting).toMatchObject({ status: 'completed' })
    expect(new Set(paths)).toEqual(
      new Set([`/v1/intents/${intentId}`, `/v1/intents/${intentId}/events`]),
    )
  })

  test('error: TIMEOUT says that it still runs; waiting again goes on', async () => {
    const { intents } = clientOf()
    const late = intents.waitForCompletion(intentId, { timeoutMs: 300 })
    await expect(late).rejects.toBeInstanceOf(sdk.TimeoutError)
    const waiting = intents.waitForCompletion(intentId)
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    expect((await waiting).status).toBe('completed')
  })

  test('error: what will not pass is thrown at once', async () => {
    const unknown = clientOf().intents.waitForCompletion('intent_no')
    await expect(unknown).rejects.toBeInstanceOf(sdk.IntentNotFoundError)
    const foreign = clientOf({ apiKey: `svc_sk_${'0'.repeat(64)}` })
    const refused = foreign.intents.waitForCompletion(intentId)
    await expect(refused).rejects.toBeInstanceOf(sdk.UnauthorizedError)
    const lost = clientOf().intents.waitForCompletion(intentId, { after: 'evt_1' })
    await expect(lost).rejects.toBeInstanceOf(sdk.InvalidRequestError)
  })

  test('error: what onEvent throws ends the wait', async () => {
    const onEvent = () => Promise.reject(new Error('my own database'))
    const waiting = clientOf().intents.waitForCompletion(intentId, { onEvent })
    await expect(waiting).rejects.toThrow('my own database')
  })

  test('a status and fields that are newer than this library do not disturb it', async () => {
    const answers = ['settling', 'settling', 'completed']
    const server = await startScripted(({ path }, count) => {
      if (path.endsWith('/events')) return { status: 502 }
      const status = answers.shift() ?? 'completed'
      const body = { id: intentId, status, mood: 'calm' }
      return { body, headers: { 'x-intent-version': String(count) } }
    })
    const client = clientOf({ baseUrl: server.url })
    const intent = await client.intents.waitForCompletion(intentId)
    expect(intent).toEqual({ id: intentId, status: 'completed', mood: 'calm' })
    await server.stop()
  })
})

describe('events.stream', () => {
  test('goes on after the last event when its connection is lost, and ends with its signal', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const ids: string[] = []
    const follow = async () => {
      for await (const { id } of clientOf().events.stream({ after: 'evt_0', signal })) {
        ids.push(id)
        if (ids.length === 2) {
          await api.stop()
          await setExecuting(events.worker, intentId)
          api = await startOwnApi(api.port)
          await setCompleted(events.worker, intentId)
        }
        if (ids.length === 4) controller.abort(new Error('enough'))
      }
    }
    await expect(follow()).rejects.toThrow('enough')
    expect(ids).toEqual(await stored())
  })

  test('from now on where no event is named, also when nothing had come before it was cut', async () => {
    let tell = () => undefined as void
    const placed = new Promise<void>((resolve) => (tell = resolve))
    // Its place is told with the first bytes.
    const noting: Fetch = async (url, init) => {
      const { status, headers, body } = await fetch(url, init)
      const transform = (chunk: Uint8Array, passed: TransformStreamDefaultController) => {
        passed.enqueue(chunk)
        tell()
      }
      const noted = body?.pipeThrough(new TransformStream({ transform })) ?? null
      return new Response(noted, { status, headers })
    }
    const stream = clientOf({ fetch: noting }).events.stream({ type: 'intent.completed' })
    const next = stream[Symbol.asyncIterator]()
    const first = next.next()
    await placed
    await new Promise(setImmediate)
    await api.stop()
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    api = await startOwnApi(api.port)
    expect((await first).value).toMatchObject({ type: 'intent.completed', intentId })
    await next.return?.()
  })

  test('intents.events ends by itself when nothing more is to come', async () => {
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    const types: string[] = []
    for await (const { type } of clientOf().intents.events(intentId)) types.push(type)
    expect(types).toEqual(story)
  })
})

const eventStream = { 'content-type': 'text/event-stream' }
