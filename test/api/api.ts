import { setTimeout as sleep } from 'node:timers/promises'
import { once } from 'node:events'
import { type Client } from '@temporalio/client'
import type { AddressInfo } from 'node:net'
import { createApiServer, drain } from '../../api/server.js'
import { createPasswords } from '../../api/http/auth/passwords.js'
import { createRequestLog, type RequestLogState } from '../../api/http/requestLog.js'
import { createAuthFailureLimiter } from '../../api/http/auth/authFailureLimiter.js'
import { createStreams, usualStreams, type StreamLimits } from '../../api/http/streaming/stream.js'
import { createAccount, createApiKey } from '../../db/accounts/accounts.js'
import { listenToEvents, listenToStarts } from '../../db/client/listen.js'
import { connect, type Db } from '../../db/client/connect.js'
import { createProber } from '../../operations/health/watch.js'
import { createProgressReader } from '../../workflows/client/progress.js'
import { runStarter } from '../../worker/dispatch.js'
import { createNotifier } from '../../runtime/notifier.js'
import { makeKek } from '../custody/kek/kekFile.js'
import { silentChains, type TestChains } from '../planning/chains.js'
import { createCapturedLog, createQuietLog } from '../support/capturedLog.js'
import { expectDocumented, expectExplained } from '../support/openapi.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { Progress } from '../../domain/intent/intent.js'
import type { Dashboard } from '../../api/http/services.js'
import type { FundingLimits } from '../../domain/intent/funding.js'
import type { Tier } from '../../domain/tiers.js'

export type Started = { workflow: string; options: Record<string, unknown> }

/** What stands in for Temporal: it notes what is started, and tells the progress it is given. */
export function standInTemporal() {
  const started: Started[] = []
  const progress = new Map<string, Progress>()
  const query = (id: string) =>
    progress.has(id) ? Promise.resolve(progress.get(id)) : Promise.reject(new Error('not found'))
  const client = {
    withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
    workflow: {
      start(workflow: string, options: Record<string, unknown>) {
        started.push({ workflow, options })
        return Promise.resolve({})
      },
      getHandle: (id: string) => ({ query: () => query(id) }),
    },
  } as unknown as Client
  return { client, started, progress }
}

const STARTED_MS = 1_000
/** What hashing a password costs where it guards nothing. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }
/** Of the request log. */
const BATCH_MS = 20
/** Whether something is stored and not started. */
const WAITS = `
  select exists (select from intent where dispatched_at is null and status not in ('completed', 'failed'))
    or exists (select from funding where dispatched_at is null) as waits`

export type Answer = { status: number; headers: Headers; body: Body; text: string }
type Body = Record<string, unknown> & { id: string; details: Record<string, unknown> }
export type Request = { key?: string; body?: unknown; raw?: string; headers?: object }
export type Call = (method: string, path: string, request?: Request) => Promise<Answer>

export type TestApi = {
  url: string
  port: number
  call: Call
  /** All lines of the log so far. */
  logText(): string
  /** As a process ends that was told to. */
  drain(): Promise<void>
  /** How its request log is doing; undefined when it keeps none. */
  requestLog(): RequestLogState | undefined
  stop(): Promise<void>
}

/** Paths whose answers the document describes. */
const isApiPath = /^\/(v1|dashboard(?!\/api))\//

/** What a test may set otherwise. */
type Settings = {
  fundingLimits?: FundingLimits
  dashboard?: Partial<Dashboard>
  dashboardFolder?: string
  streamLimits?: Partial<StreamLimits>
  /** Where its request log is written; absent: it keeps none. */
  requestLogUrl?: string
  answerMs?: number
  indexingWaitMs?: number
  authFailureLimit?: number
  /** Absent: any that is free. */
  port?: number
}
type Parts = {
  db: Db
  temporal: Client
  /** Where events are announced; absent: what is new is found by the poll. */
  listenUrl?: string
  /** Resolves when what a POST has stored is started; absent: nobody waits for that. */
  untilStarted?: () => Promise<void>
} & Settings &
  Pick<TestChains, 'chains' | 'registry'>

/** The API on a free port. */
export async function startApi(parts: Parts): Promise<TestApi> {
  const { log, lines } = createCapturedLog('api')
  const readProgress = createProgressReader(parts.temporal)
  const { chains, registry, db } = parts
  const prober = createProber({ chains, registry, db })
  const { fundingLimits = { perWallet: 0, perAccount: 0 } } = parts
  const logDb = parts.requestLogUrl ? connect(parts.requestLogUrl, 1) : undefined
  const requestLog = logDb && createRequestLog(logDb, log, BATCH_MS)
  const passwords = createPasswords(undefined, CHEAP)
  const dashboard = { passwords, ...parts.dashboard }
  const streams = createStreams(db, log, { ...usualStreams, ...parts.streamLimits })
  const listening = new AbortController()
  if (parts.listenUrl) listenToEvents(parts.listenUrl, listening.signal, streams.fanOut.wake)
  const authFailures = createAuthFailureLimiter(parts.authFailureLimit)
  const own = { prober, readProgress, fundingLimits, authFailures, streams, log, dashboard }
  const server = createApiServer({ ...parts, ...own, ...(requestLog && { requestLog }) })
  server.listen(parts.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    ...{ url, port },
    async call(method, path, request) {
      const answer = await send(url + path, method, request)
      if (method === 'POST') await parts.untilStarted?.()
      const { status, headers, body } = answer
      if (isApiPath.test(path)) expectDocumented(method, path, status, headers, body)
      if (status >= 400 && 'error' in body) await expectExplained(url, body)
      return answer
    },
    logText: () => lines.join(''),
    async drain() {
      await drain(server, streams).finally(() => listening.abort())
    },
    requestLog: () => requestLog?.state(),
    async stop() {
      listening.abort()
      streams.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await requestLog?.stop()
      await logDb?.destroy()
    },
  }
}

async function send(url: string, method: string, request: Request = {}): Promise<Answer> {
  const { key, body, raw, headers } = request
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url, {
    method,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  })
  const text = await response.text()
  return {
    ...{ status: response.status, headers: response.headers, text },
    body: JSON.parse(text || '{}') as Body,
  }
}

export type World = {
  database: TestDatabase
  api: TestApi
  temporal: ReturnType<typeof standInTemporal>
  /** A pool with the rights of the API only. */
  db: Db
  /** Resolves when what is stored is started, or a test holds it up. */
  untilStarted(): Promise<void>
  newKey(plan?: Tier): Promise<string>
  stop(): Promise<void>
}

/** Postgres, the API and a KEK as the signer publishes it; `chains` are those given, else silent ones. */
export async function startWorld(
  chains: Pick<TestChains, 'chains' | 'registry'> = silentChains(),
  settings: Omit<Settings, 'requestLogUrl'> & { keepsRequests?: boolean } = {},
): Promise<World> {
  const database = await createDatabase()
  const kek = await makeKek()
  const row = { id: kek.id, public_key: Buffer.from(kek.publicKey), active: true }
  await database.db('kek').insert(row)
  const db = connect(database.urlAs('steward_api'), 10)
  const temporal = standInTemporal()
  const listenUrl = database.urlAs('steward_api')
  const { keepsRequests = false, ...others } = settings
  const kept = keepsRequests ? { requestLogUrl: database.urlAs('steward_api') } : {}
  const starter = startStarter(database, temporal.client)
  const { untilStarted } = starter
  const api = await startApi({
    ...{ db, listenUrl, temporal: temporal.client, untilStarted },
    ...{ ...chains, ...others, ...kept },
  })
  return {
    ...{ database, api, temporal, db, untilStarted },
    async newKey(plan = 'pro') {
      const { id } = await createAccount(database.db, { name: 'test', plan })
      return createApiKey(database.db, id, { name: 'test' })
    },
    async stop() {
      await api.stop()
      await starter.stop()
      await db.destroy()
      await database.drop()
    },
  }
}

/** Starts what is stored, with the rights of a worker and no other part of it. */
function startStarter(database: TestDatabase, client: Client) {
  const stop = new AbortController()
  const url = database.urlAs('steward_worker')
  const db = connect(url, 4)
  const stored = createNotifier()
  listenToStarts(url, stop.signal, stored.notify)
  const temporal = { untilThere: () => Promise.resolve() }
  const log = createQuietLog('worker')
  // No worker is there that could begin it at once.
  const rollout = { isCurrent: () => false }
  const tools = { db, client, temporal, stored, log, rollout }
  const running = runStarter(tools, stop.signal)
  return {
    /** A test that holds a start up is not held up by it. */
    async untilStarted() {
      for (const until = Date.now() + STARTED_MS; Date.now() < until; await sleep(5)) {
        const { rows } = await database.db.raw<{ rows: { waits: boolean }[] }>(WAITS)
        if (!rows[0]?.waits) return
      }
    },
    async stop() {
      stop.abort()
      await running
      await db.destroy()
    },
  }
}

/** An error's text without what differs in each answer. */
export const withoutId = ({ text }: Answer) => text.replace(/req_[0-9a-z]{26}/g, 'req_')
