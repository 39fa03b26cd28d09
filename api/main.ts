import { once } from 'node:events'
import { connectChains } from '../chains/connect.js'
import { createPasswords } from './http/auth/passwords.js'
import { createRequestLog } from './http/requestLog.js'
import { createShield } from './http/auth/shield.js'
import { createStreams } from './http/streaming/stream.js'
import { createRegistry } from '../chains/registry.js'
import { fundingLimitsOf, loadConfig } from '../config.js'
import { assertNetwork, connect } from '../db/connection/connect.js'
import { listenToEvents } from '../db/connection/listen.js'
import { superviseProcess } from '../process.js'
import { createLog } from '../log.js'
import { createProber, summarize, watchDeployment } from '../probe/watch.js'
import { connectTemporal } from '../temporal/connect.js'
import { createProgressReader } from '../temporal/progress.js'
import { createApiServer, drain } from './server.js'

const config = loadConfig('api', process.env)
const log = createLog('api', config.LOG_LEVEL)
const { stopping, onStop, ready } = superviseProcess(log)

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

const shield = createShield()
const readProgress = createProgressReader(temporal)
const prober = createProber({ chains, registry, db })
const { limits } = config
const fundingLimits = fundingLimitsOf(config)
const planning = { db, chains, registry, limits }
const dashboard = {
  passwords: createPasswords(),
  publicUrl: config.PUBLIC_URL,
  trustedProxies: config.TRUSTED_PROXIES,
  temporalUi: config.TEMPORAL_UI_URL,
}
const streams = createStreams(db, log)
listenToEvents(config.directDatabaseUrl, stopping, streams.feed.wake)
const guards = { fundingLimits, shield, streams, requestLog, log, dashboard }
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
