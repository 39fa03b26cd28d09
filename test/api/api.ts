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
import type { PlanLimits } from '../../domain/limits.js'
import type { FundingLimits } from '../../domain/intent/funding.js'
import type { GasBudgets, Tier } from '../../domain/tiers.js'

export type Started = { workflow: string; options: Record<string, unknown> }

export const STAND_IN_NAMESPACE = 'stand-in'

/** A Temporal client for tests. It records started workflows and returns the progress that a test sets. */
export function standInTemporal() {
  const started: Started[] = []
  const progress = new Map<string, Progress>()
  const query = (id: string) =>
    progress.has(id) ? Promise.resolve(progress.get(id)) : Promise.reject(new Error('not found'))
  const client = {
    options: { namespace: STAND_IN_NAMESPACE },
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
/** Cheap password hashing for tests. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }
/** Maximum age of a request log batch. */
const BATCH_MS = 20
/** Whether an intent or a funding is stored and not started. */
const WAITS = `
  select exists (select from intent where dispatched_at is null and status not in ('completed', 'failed'))
    or exists (select from funding where dispatched_at is null) as waits`

export type ApiResponse = { status: number; headers: Headers; body: ResponseBody; text: string }
type ResponseBody = Record<string, unknown> & { id: string; details: Record<string, unknown> }
export type Request = { key?: string; body?: unknown; raw?: string; headers?: object }
export type CallApi = (method: string, path: string, request?: Request) => Promise<ApiResponse>

export type TestApi = {
  url: string
  port: number
  call: CallApi
  /** All lines of the log so far. */
  logText(): string
  /** Drains the server, as on SIGTERM. */
  drain(): Promise<void>
  /** State of the request log. Undefined without one. */
  requestLog(): RequestLogState | undefined
  stop(): Promise<void>
}

/** Paths whose responses the OpenAPI document describes. */
const isApiPath = /^\/(v1|dashboard(?!\/api))\//

/** Settings that a test may override. */
type ApiSettings = {
  fundingLimits?: FundingLimits
  gasBudgets?: GasBudgets
  limits?: PlanLimits
  dashboard?: Partial<Dashboard>
  dashboardFolder?: string
  streamLimits?: Partial<StreamLimits>
  /** Database of the request log. Default: no request log. */
  requestLogUrl?: string
  answerMs?: number
  indexingWaitMs?: number
  authFailureLimit?: number
  /** Default: a free port. */
  port?: number
}
type ApiParts = {
  db: Db
  temporal: Client
  /** Database whose notifications announce events. Default: only the poll finds new events. */
  listenUrl?: string
  /** Resolves when the stored intents and fundings are started. Default: calls do not wait. */
  untilStarted?: () => Promise<void>
} & ApiSettings &
  Pick<TestChains, 'chains' | 'registry'>

/** The API on a free port. */
export async function startApi(parts: ApiParts): Promise<TestApi> {
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

async function send(url: string, method: string, request: Request = {}): Promise<ApiResponse> {
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
    body: JSON.parse(text || '{}') as ResponseBody,
  }
}

export type ApiWorld = {
  database: TestDatabase
  api: TestApi
  temporal: ReturnType<typeof standInTemporal>
  /** A pool with the rights of the API only. */
  db: Db
  /** Resolves when the stored intents and fundings are started, or after 1 s. */
  untilStarted(): Promise<void>
  newKey(plan?: Tier): Promise<string>
  stop(): Promise<void>
}

/** Postgres, the API and a published KEK. @param chains - Default: chains that never respond. */
export async function startWorld(
  chains: Pick<TestChains, 'chains' | 'registry'> = silentChains(),
  settings: Omit<ApiSettings, 'requestLogUrl'> & { keepsRequests?: boolean } = {},
): Promise<ApiWorld> {
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

/** Starts stored intents and fundings, with the rights of a worker. No worker executes them. */
function startStarter(database: TestDatabase, client: Client) {
  const stop = new AbortController()
  const url = database.urlAs('steward_worker')
  const db = connect(url, 4)
  const stored = createNotifier()
  listenToStarts(url, stop.signal, stored.notify)
  const temporal = { untilThere: () => Promise.resolve() }
  const log = createQuietLog('worker')
  // No worker runs that could start them at once.
  const rollout = { isCurrent: () => false }
  const tools = { db, client, temporal, stored, log, rollout }
  const running = runStarter(tools, stop.signal)
  return {
    /** Gives up after 1 s, because a test may block the start. */
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

/** The text of an error, without its request id. */
export const withoutId = ({ text }: ApiResponse) => text.replace(/req_[0-9a-z]{26}/g, 'req_')
