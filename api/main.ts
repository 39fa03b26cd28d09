import { once } from 'node:events'
import { createServer } from 'node:http'
import { connectChains } from '../chains/connect.js'
import { createRegistry } from '../chains/registry.js'
import { loadConfig } from '../config.js'
import { assertNetwork, connect } from '../db/connect.js'
import { superviseProcess } from '../lifecycle.js'
import { createLog } from '../log.js'
import { connectTemporal } from '../temporal/connect.js'
import { createProgressReader } from '../temporal/progress.js'
import { createApp } from './app.js'

/** Slow clients are cut off: a request is small and its answer takes a second at most. */
const TIMEOUTS = { requestTimeout: 15_000, headersTimeout: 10_000 }

const config = loadConfig('api', process.env)
const log = createLog('api', config.LOG_LEVEL)
const { onStop, ready } = superviseProcess(log)

const registry = createRegistry(config.NETWORK, config.DEVNET_FILE)
const chains = connectChains(registry, config.rpcUrls)
const db = connect(config.DATABASE_URL, 20)
onStop(() => db.destroy())
await assertNetwork(db, config.NETWORK)
const temporal = connectTemporal(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE)
onStop(() => temporal.connection.close())

const readProgress = createProgressReader(temporal)
const app = createApp({ db, chains, registry, temporal, readProgress, log })
const server = createServer(TIMEOUTS, app)
server.listen(config.API_PORT, config.API_HOST)
await once(server, 'listening')
onStop(async () => {
  server.close()
  server.closeIdleConnections()
  await once(server, 'close')
})
ready({ address: server.address() })
