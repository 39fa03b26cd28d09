import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect, type Db } from '../db/client/connect.js'
import { newId } from '../db/client/ids.js'
import { createApiKey } from '../db/accounts/accounts.js'
import { insertTestWallet } from '../test/db/rows.js'
import { createHome, removeHome, startStack } from '../test/e2e/stack.js'
import { quantile } from './callers.js'
import { runLoad, type LoadResult, type LoadRun } from './load.js'
import { pageOption } from './page.js'
import { printVerdict } from './verdict.js'

/**
 * Compares `GET /v1/wallets/:userId` and `POST /v1/wallets` of a whole stack with a bare Express server on the same
 * Postgres. Rounds alternate, so that a slow moment of the machine affects both. Results are medians.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '10' },
    ...pageOption,
  },
})
const SECONDS = Number(values.seconds)
const CONNECTIONS = Number(values.connections)
const ROUNDS = Number(values.rounds)
const WARM_UP_SECONDS = 2
/** Accounts with a key each. With a single account all requests would wait for its row. */
const ACCOUNTS = 64
const UNLIMITED = 1_000_000_000
/** Throughput as a share of the bare server's. */
const [MIN_READ, MIN_CREATED] = [0.9, 0.5]

type ServerPorts = { api: number; bare: number }
type LoadPair = { api: LoadResult; bare: LoadResult }

const home = await createHome()
const stack = await startStack(home)
const db = connect(stack.facts.databaseUrl, 2)
const bare = fork(fileURLToPath(new URL('baseline/bareServer.ts', import.meta.url)), [
  stack.facts.databaseUrl,
])
try {
  const [port] = (await once(bare, 'message')) as [number]
  await compare({ api: Number(new URL(stack.facts.hostUrl).port), bare: port })
} finally {
  bare.disconnect()
  await db.destroy()
  await stack.stop()
  removeHome(home)
}

async function compare(ports: ServerPorts): Promise<void> {
  const callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => insertCaller(db)))
  const reads = callers.map(toRead)
  const many = await measure(ports, reads)
  const one = await measure(ports, reads.slice(0, 1))
  const created = await measure(ports, (turn) => toCreation(callers[turn % ACCOUNTS] ?? []))
  const latency = (pick: (pair: LoadPair) => number) => quantile(many.map(pick), 0.5)
  printVerdict(
    [
      { ...throughput('GET wallet, a second, 64 accounts', many), atLeast: MIN_READ },
      throughput('GET wallet, a second, 1 account', one),
      { ...throughput('POST wallets, a second', created), atLeast: MIN_CREATED },
      {
        metric: 'GET wallet, p99 ms',
        steward: latency(({ api }) => api.p99Ms),
        baseline: latency((pair) => pair.bare.p99Ms),
      },
    ],
    { write: values.write },
  )
}

/** Headers by which both servers identify the account. Its wallet is that of `user`. */
async function insertCaller(owner: Db): Promise<string[]> {
  const { accountId } = await insertTestWallet(owner)
  await owner('account')
    .where({ id: accountId })
    .update({
      ...{ rpm: UNLIMITED, max_wallets: null, monthly_credits: UNLIMITED },
      ...{ period: owner.raw('current_period()'), granted: UNLIMITED },
    })
  const key = await createApiKey(owner, accountId, { name: 'bench' })
  return ['Host: 127.0.0.1', `Authorization: Bearer ${key}`, `X-Account: ${accountId}`]
}

function toRead(headers: string[]): Buffer {
  return Buffer.from(['GET /v1/wallets/user HTTP/1.1', ...headers, '', ''].join('\r\n'))
}

/** Creates the wallet of a new user each time, with an idempotency key as clients send it. */
function toCreation(headers: string[]): Buffer {
  const body = JSON.stringify({ userId: newId('user_') })
  const about = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  const lines = ['POST /v1/wallets HTTP/1.1', ...headers, `Idempotency-Key: ${newId('key_')}`]
  return Buffer.from([...lines, ...about, '', body].join('\r\n'))
}

async function measure(ports: ServerPorts, requests: LoadRun['requests']): Promise<LoadPair[]> {
  const run = (port: number, seconds: number) =>
    runLoad({ port, requests, connections: CONNECTIONS, seconds })
  for (const port of Object.values(ports)) await run(port, WARM_UP_SECONDS)
  const rounds: LoadPair[] = []
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ api: await run(ports.api, SECONDS), bare: await run(ports.bare, SECONDS) })
  }
  return rounds
}

function throughput(metric: string, rounds: LoadPair[]) {
  const median = (of: keyof LoadPair) =>
    quantile(
      rounds.map((pair) => pair[of].perSecond),
      0.5,
    )
  return { metric, steward: median('api'), baseline: median('bare') }
}
