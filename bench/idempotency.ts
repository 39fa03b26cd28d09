import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { Client } from '@temporalio/client'
import { createPasswords } from '../api/http/passwords.js'
import { createShield } from '../api/http/shield.js'
import { createStreams } from '../api/http/stream.js'
import { createApiServer } from '../api/server.js'
import { createApiKey } from '../db/tenants/accounts.js'
import { connect, type Db } from '../db/connection/connect.js'
import { migrate } from '../db/connection/migrate.js'
import { startEmbeddedPostgres } from '../dev/parts/embeddedPostgres.js'
import { createLog } from '../log.js'
import { createProber } from '../probe/watch.js'
import { insertTestWallet } from '../test/db/rows.js'
import { silentChains } from '../test/planning/chains.js'
import { countEffects, runTwins } from '../test/support/twins.js'

/** 1,000 names, each of which is sent 16 times at once, over two servers. The chains keep silent. */
const KEYS = 1_000
const TWINS = 16
const LANES = 2

/** Takes every start and does nothing. */
const temporal = { workflow: { start: () => Promise.resolve({}) } } as unknown as Client

const dir = mkdtempSync(join(tmpdir(), 'steward-bench-'))
const postgres = await startEmbeddedPostgres({ dir: join(dir, 'postgres') })
try {
  await migrate(postgres.url)
  const owner = connect(postgres.url)
  await run(owner)
  await owner.destroy()
} finally {
  await postgres.stop()
  rmSync(dir, { recursive: true, force: true })
}

async function run(owner: Db): Promise<void> {
  const wallet = await insertTestWallet(owner)
  const { accountId } = wallet
  await owner('account')
    .where({ id: accountId })
    .update({ rpm: KEYS * TWINS, monthly_credits: 5_000 })
  const key = await createApiKey(owner, accountId, { name: 'bench' })
  const servers = [await startServer(), await startServer()]
  const body = JSON.stringify({ walletId: wallet.id, action: 'lend', amount: 1 })
  const started = performance.now()
  const tally = await runTwins({
    ...{ keys: KEYS, twins: TWINS, lanes: LANES },
    async send(name, turn) {
      const url = `${servers[turn % servers.length]?.url}/v1/intents`
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const response = await fetch(url, {
        ...{ method: 'POST', body, headers: { ...headers, 'idempotency-key': name } },
      })
      const replayed = response.headers.get('idempotent-replayed') === 'true'
      return { status: response.status, replayed, text: await response.text() }
    },
  })
  const seconds = (performance.now() - started) / 1_000
  const effects = await countEffects(owner, accountId)
  for (const server of servers) await server.stop()
  const created = tally.statuses.filter((status) => status === 201).length
  console.table({
    requests: tally.statuses.length,
    'answered 201': created,
    replayed: tally.replayed,
    'sent again after 503': tally.again,
    'keys with differing answers': tally.differing,
    ...effects,
    seconds: Math.round(seconds),
  })
  const exact = effects.intents === KEYS && effects.credits === 5 * KEYS && tally.differing === 0
  if (!exact || created !== KEYS * TWINS) process.exitCode = 1
}

async function startServer() {
  const url = new URL(postgres.url)
  url.searchParams.set('options', '-c role=steward_api')
  const db = connect(url.href, 20)
  const nodes = silentChains()
  const prober = createProber(nodes)
  const fundingLimits = { perWallet: 0, perAccount: 0 }
  const guards = { shield: createShield(), dashboard: { passwords: createPasswords() } }
  const parts = { db, fundingLimits, temporal, ...nodes, prober, ...guards }
  const readProgress = () => Promise.resolve(undefined)
  const log = createLog('api', 'silent')
  const streams = createStreams(db, log)
  const server = createApiServer({ ...parts, readProgress, streams, log })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await db.destroy()
    },
  }
}
