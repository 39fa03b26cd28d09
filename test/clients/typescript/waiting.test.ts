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

const timeline = ['intent.created', 'intent.planned', 'intent.executing', 'intent.completed']
const database = () => events.world.database.db

/** An API that can stop and restart at the same address. */
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

/** Records the events of `onEvent`, with a promise for their number. */
function listen() {
  const delivered: Event[] = []
  let wake = () => undefined as void
  return {
    delivered,
    types: () => delivered.map(({ type }) => type),
    onEvent(event: Event) {
      delivered.push(event)
      wake()
    },
    async until(count: number) {
      while (delivered.length < count) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

/** The stored events of the intent. */
async function stored(): Promise<string[]> {
  const rows = database()('intent_event').where({ intent_id: intentId }).orderBy('id')
  return (await rows.pluck<bigint[]>('id')).map((id) => `evt_${id}`)
}

/** A `fetch` that rejects streams. */
const withoutStreams: Fetch = (url, init) =>
  url.endsWith('/events')
    ? Promise.resolve(new Response('<html>', { status: 502 }))
    : fetch(url, init)

describe('intents.waitForCompletion', () => {
  test('delivers every event once, in order, and returns the completed intent', async () => {
    const { delivered, types, onEvent, until } = listen()
    const waiting = clientOf().intents.waitForCompletion(intentId, { onEvent })
    await until(2)
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    expect(await waiting).toMatchObject({ id: intentId, status: 'completed' })
    expect(types()).toEqual(timeline)
    expect(delivered.map(({ id }) => id)).toEqual(await stored())
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
      const { delivered, types, onEvent, until } = listen()
      const waiting = clientOf({ fetch: counting }).intents.waitForCompletion(intentId, { onEvent })
      await until(2)
      await api.stop()
      await setExecuting(events.worker, intentId)
      while (failures < 2) await new Promise((resolve) => setTimeout(resolve, 20))
      api = await startOwnApi(api.port)
      await setCompleted(events.worker, intentId)
      expect(await waiting).toMatchObject({ status: 'completed' })
      expect(types()).toEqual(timeline)
      expect(delivered.map(({ id }) => id)).toEqual(await stored())
    },
  )

  test('abandons a silent stream and finds the events by polling', async () => {
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
    expect(types()).toEqual(timeline)
  })

  test('continues in another client after the last event', async () => {
    const controller = new AbortController()
    const { delivered, onEvent, until } = listen()
    const { signal } = controller
    const waiting = clientOf().intents.waitForCompletion(intentId, { onEvent, signal })
    await until(2)
    controller.abort(new Error('shut down'))
    await expect(waiting).rejects.toThrow('shut down')
    await setExecuting(events.worker, intentId)

    // The other client knows only the ids of the intent and of the last event.
    const rest = listen()
    const other = clientOf().intents.waitForCompletion(intentId, {
      ...{ onEvent: rest.onEvent, after: delivered.at(-1)?.id },
    })
    await rest.until(1)
    await setCompleted(events.worker, intentId)
    expect((await other).status).toBe('completed')
    const ids = [...delivered, ...rest.delivered].map(({ id }) => id)
    expect(ids).toEqual(await stored())
  })

  test('returns an ended intent at once and delivers its events', async () => {
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    const { types, onEvent } = listen()
    await clientOf().intents.waitForCompletion(intentId, { onEvent })
    expect(types()).toEqual(timeline)
    const rest = listen()
    const [after] = await stored()
    await clientOf().intents.waitForCompletion(intentId, { onEvent: rest.onEvent, after })
    expect(rest.types()).toEqual(timeline.slice(1))
  })

  test('error: a failed intent is thrown as its class, also while its money is in the bridge', async () => {
    const error = { code: 'BRIDGE_TIMEOUT', message: 'It is late.', step: 1 } as const
    const waiting = clientOf().intents.waitForCompletion(intentId)
    await setExecuting(events.worker, intentId)
    await setFailed(events.worker, intentId, error)
    const thrown = await waiting.catch((cause: unknown) => cause as sdk.BridgeTimeoutError)
    expect(thrown).toBeInstanceOf(sdk.BridgeTimeoutError)
    expect(thrown).toBeInstanceOf(sdk.IntentFailedError)
    expect(thrown).toMatchObject({ code: 'BRIDGE_TIMEOUT', intent: { id: intentId, error } })
  })

  test('works with a read token', async () => {
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

  test('error: TIMEOUT while the intent runs; a second wait continues', async () => {
    const { intents } = clientOf()
    const late = intents.waitForCompletion(intentId, { timeoutMs: 300 })
    await expect(late).rejects.toBeInstanceOf(sdk.TimeoutError)
    const waiting = intents.waitForCompletion(intentId)
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    expect((await waiting).status).toBe('completed')
  })

  test('error: a permanent error is thrown at once', async () => {
    const unknown = clientOf().intents.waitForCompletion('intent_no')
    await expect(unknown).rejects.toBeInstanceOf(sdk.IntentNotFoundError)
    const foreign = clientOf({ apiKey: `svc_sk_${'0'.repeat(64)}` })
    const refused = foreign.intents.waitForCompletion(intentId)
    await expect(refused).rejects.toBeInstanceOf(sdk.UnauthorizedError)
    const lost = clientOf().intents.waitForCompletion(intentId, { after: 'evt_1' })
    await expect(lost).rejects.toBeInstanceOf(sdk.InvalidRequestError)
  })

  test('error: an exception of onEvent ends the wait', async () => {
    const onEvent = () => Promise.reject(new Error('my own database'))
    const waiting = clientOf().intents.waitForCompletion(intentId, { onEvent })
    await expect(waiting).rejects.toThrow('my own database')
  })

  test('accepts unknown statuses and fields', async () => {
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
  test('resumes after the last event and ends with its signal', async () => {
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

  test('starts with new events, also after a connection that was lost without an event', async () => {
    let markOpen = () => undefined as void
    const placed = new Promise<void>((resolve) => (markOpen = resolve))
    // The first bytes contain the position of the stream.
    const noting: Fetch = async (url, init) => {
      const { status, headers, body } = await fetch(url, init)
      const transform = (chunk: Uint8Array, passed: TransformStreamDefaultController) => {
        passed.enqueue(chunk)
        markOpen()
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

  test('intents.events ends when no more events follow', async () => {
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    const types: string[] = []
    for await (const { type } of clientOf().intents.events(intentId)) types.push(type)
    expect(types).toEqual(timeline)
  })
})

const eventStream = { 'content-type': 'text/event-stream' }
