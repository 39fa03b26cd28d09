import { connectChains } from '../chains/connect.js'
import { createRegistry } from '../chains/registry.js'
import { loadConfig } from '../config.js'
import { assertNetwork, connect } from '../db/connection/connect.js'
import { listenToOperations } from '../db/connection/listen.js'
import { createLog } from '../log.js'
import { superviseProcess } from '../process.js'
import { createProber, watchDeployment } from '../probe/watch.js'
import { connectAttestations } from '../protocols/bridges/bridges.js'
import { runAttester } from './attester.js'
import { driveChain } from './driver.js'

const config = loadConfig('lanes', process.env)
const log = createLog('lanes', config.LOG_LEVEL)
const { stopping, onStop, ready } = superviseProcess(log)

const registry = createRegistry(config.NETWORK, config.DEVNET_FILE)
const chains = connectChains(registry, config.rpcUrls, log)
const db = connect(config.DATABASE_URL, 1)
onStop(() => db.destroy())

await assertNetwork(db, config.NETWORK)
const watch = watchDeployment(createProber({ chains, registry }), log, stopping)
onStop(() => watch.ended)
await watch.first

const url = config.directDatabaseUrl
const listener = listenToOperations(url, stopping)
const drivers = chains.list.map((client) => driveChain({ url, client, listener, log }, stopping))
onStop(() => Promise.all(drivers))
const attestations = connectAttestations(config.ATTESTATION_URL)
const attester = runAttester({ url, attestations, chains, listener, log }, stopping)
onStop(() => attester)
ready({ chains: chains.list.map(({ chain }) => chain.name) })
