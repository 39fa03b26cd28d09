import { once } from 'node:events'
import { connectChains } from '../evm/connect.js'
import { createPasswords } from './http/auth/passwords.js'
import { createRequestLog } from './http/requestLog.js'
import { createAuthFailureLimiter } from './http/auth/authFailureLimiter.js'
import { createStreams } from './http/streaming/stream.js'
import { createRegistry } from '../evm/registry.js'
import { fundingLimitsOf, gasBudgetsOf, loadConfig } from '../runtime/config.js'
import { assertNetwork, connect } from '../db/client/connect.js'
import { listenToEvents } from '../db/client/listen.js'
import { runProcess } from '../runtime/process.js'
import { createLog } from '../runtime/log.js'
import { createProber, summarize, watchDeployment } from '../operations/health/watch.js'
import { connectTemporal } from '../workflows/client/connect.js'
import { createProgressReader } from '../workflows/client/progress.js'
import { createApiServer, drain } from './server.js'

const config = loadConfig('api', process.env)
const log = createLog('api', config.LOG_LEVEL)
const { stopping, onStop, ready } = runProcess(log)

const registry = createRegistry(config.NETWORK, config.DEVNET_FILE)
const chains = connectChains(registry, config.rpcUrls, log)
const db = connect(config.DATABASE_URL, 20)
onStop(() => db.destroy())
await assertNetwork(db, config.NETWORK)
const logDb = connect(config.DATABASE_URL, 1)
onStop(() => logDb.destroy())
const requestLog = createRequestLog(logDb, log)
onStop(() => requestLog.stop())
const temporal = connectTemporal(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE)
onStop(() => temporal.connection.close())

const authFailures = createAuthFailureLimiter()
const readProgress = createProgressReader(temporal)
const prober = createProber({ chains, registry, db })
const { limits } = config
const fundingLimits = fundingLimitsOf(config)
const gasBudgets = gasBudgetsOf(config)
const planning = { db, chains, registry, limits }
const dashboard = {
  passwords: createPasswords(),
  publicUrl: config.PUBLIC_URL,
  trustedProxies: config.TRUSTED_PROXIES,
  temporalUi: config.TEMPORAL_UI_URL,
}
const streams = createStreams(db, log)
listenToEvents(config.directDatabaseUrl, stopping, streams.fanOut.wake)
const guards = { fundingLimits, gasBudgets, authFailures, streams, requestLog, log, dashboard }
const parts = { ...planning, prober, temporal, readProgress, ...guards }
const server = createApiServer(parts)
server.listen(config.API_PORT, config.API_HOST)
await once(server, 'listening')
onStop(() => drain(server, streams))
const watch = watchDeployment(prober, log, stopping)
onStop(() => watch.ended)
ready({ address: server.address() })
await watch.first
const report = prober.latest()
if (report) log.info({ chains: summarize(report) }, 'deployment probed')
