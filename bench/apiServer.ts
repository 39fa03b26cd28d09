import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AddressInfo } from 'node:net'
import type { Client } from '@temporalio/client'
import express, { type RequestHandler } from 'express'
import pg from 'pg'
import { createApiServer } from '../api/server.js'
import { createPasswords } from '../api/http/passwords.js'
import { createRequestLog } from '../api/http/requestLog.js'
import { createShield } from '../api/http/shield.js'
import { createStreams } from '../api/http/stream.js'
import { keyDigest } from '../db/tenants/accounts.js'
import { listenToEvents } from '../db/connection/listen.js'
import { connect } from '../db/connection/connect.js'
import { newId } from '../db/connection/ids.js'
import { createLog } from '../log.js'
import { createProber } from '../probe/watch.js'
import { silentChains } from '../test/planning/chains.js'
import type { Services } from '../api/http/services.js'

/**
 * One server of `bench/api.ts`, in a process of its own: `steward` is the API as it runs in production, `unlogged`
 * the same without its request log,
 * `bare` answers the same wallet by one query and inserts another one's rows by one, `sameSql` by the statement that the API shares among requests.
 * Its parent asks it for its CPU time and its round trips to Postgres, and ends it by closing the channel.
 */
const [kind, url = ''] = process.argv.slice(2)
/** As in `api/main.ts`. */
const POOL_SIZE = 20

const kinds: Record<string, () => Server> = { steward, unlogged, bare, sameSql }

function steward(): Server {
  const log = createLog('api', 'info')
  return serveApi({ log, requestLog: createRequestLog(connect(url, 1), log) })
}

function unlogged(): Server {
  return serveApi({ log: createLog('api', 'info') })
}

function serveApi(own: Pick<Services, 'log' | 'requestLog'>): Server {
  const db = connect(url, POOL_SIZE)
  const nodes = silentChains()
  const prober = createProber(nodes)
  const fundingLimits = { perWallet: 0, perAccount: 0 }
  const parts = {
    db,
    fundingLimits,
    temporal: {} as Client,
    ...nodes,
    prober,
    shield: createShield(),
    dashboard: { passwords: createPasswords() },
  }
  const readProgress = () => Promise.resolve(undefined)
  const streams = createStreams(db, own.log)
  listenToEvents(url, new AbortController().signal, streams.feed.wake)
  return createApiServer({ ...parts, readProgress, streams, ...own })
}

const COLUMNS = `id, account_id as "accountId", user_id as "userId", address, metadata,
  created_at as "createdAt"`
const selectWallet = `select ${COLUMNS} from wallet where account_id = $1 and user_id = $2`

function bare(): Server {
  const pool = createPool()
  const app = express().get('/v1/wallets/:userId', async (request, response) => {
    const values = [request.get('x-account'), request.params.userId]
    const { rows } = await pool.query<object>(selectWallet, values)
    response.json(rows[0])
  })
  app.post('/v1/wallets', express.json(), async (request, response) => {
    const { userId } = request.body as { userId: string }
    const values = [newId('svc_wallet_'), request.get('x-account'), userId, newId('req_')]
    const { rows } = await pool.query<object>({ ...insertWallet, values })
    response.status(201).json(rows[0])
  })
  return createServer(app)
}

/** What a wallet leaves behind, the account's triggers included: it, its secret, a charge and what is left. */
const insertWallet = {
  name: 'insert',
  text: `with made as (
      insert into wallet (id, account_id, user_id, address, metadata)
      values ($1, $2, $3, '0x' || md5($1) || '00000000', '{}') returning *
    ), sealed as (
      insert into wallet_secret (wallet_id, kek_id, sealed)
      select made.id, kek.id, decode(repeat('00', 80), 'hex') from made, kek
    ), paid as (
      insert into ledger (account_id, request_id, reason, delta, from_granted, period)
      values ($2, $4, 'charge:POST /wallets', -1, 1, 202601)
    ), left_over as (
      update account set granted = granted - 1, total_used = total_used + 1 where id = $2
    )
    select ${COLUMNS} from made`,
}

const admitAndSelect = {
  name: 'admit',
  text: `select w.* from admit_calls($1, $2, $3, $4, $5, false) as a
    cross join lateral (select set_config('app.account', a.account_id, true) as account) as scope
    left join lateral (select ${COLUMNS} from wallet
      where account_id = scope.account and user_id = $6 offset 0) as w on true`,
}

function sameSql(): Server {
  const pool = createPool()
  return serve(async (request, response) => {
    const digest = keyDigest(request.get('authorization')?.slice('Bearer '.length) ?? '')
    const call = [[digest], [newId('req_')], [1], ['GET /wallets/:userId'], ['read']]
    const values = [...call, request.params.userId]
    const { rows } = await pool.query<object>({ ...admitAndSelect, values })
    response.json(rows[0])
  })
}

function createPool(): pg.Pool {
  return new pg.Pool({ connectionString: url, max: POOL_SIZE }).on('error', () => undefined)
}

function serve(handler: RequestHandler<{ userId: string }>): Server {
  return createServer(express().get('/v1/wallets/:userId', handler))
}

/** Round trips to Postgres since the first call: each ends with the server's word that it is ready. */
const countTrips = (() => {
  let trips: number | undefined
  return () => {
    if (trips !== undefined) return trips
    trips = 0
    const { prototype } = pg.Connection
    const { emit } = prototype
    prototype.emit = function (...event) {
      if (event[0] === 'readyForQuery') trips = (trips ?? 0) + 1
      return emit.apply(this, event)
    }
    return trips
  }
})()

const cpuMicros = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Bytes that are used when what is needed no more is gone. */
function readMemory(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().rss
}

const answers: Record<string, () => number> = {
  cpu: cpuMicros,
  trips: countTrips,
  memory: readMemory,
}

const server = kinds[kind ?? '']?.()
if (!server) throw new Error(`Say which: ${Object.keys(kinds).join(', ')}.`)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('message', (question) => {
  process.send?.(answers[String(question)]?.())
})
process.on('disconnect', () => process.exit())
process.send?.((server.address() as AddressInfo).port)
