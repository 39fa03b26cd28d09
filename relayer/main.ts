import { connectChains } from '../evm/connect.js'
import { createRegistry } from '../evm/registry.js'
import { loadConfig } from '../runtime/config.js'
import { assertNetwork, connect } from '../db/client/connect.js'
import { listenToOperations } from '../db/client/listen.js'
import { createLog } from '../runtime/log.js'
import { runProcess } from '../runtime/process.js'
import { createProber, watchDeployment } from '../operations/health/watch.js'
import { connectAttestations } from '../evm/bridges/bridges.js'
import { runAttester } from './attestations/attester.js'
import { driveChain } from './driveChain.js'

const config = loadConfig('relayer', process.env)
const log = createLog('relayer', config.LOG_LEVEL)
const { stopping, onStop, ready } = runProcess(log)

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
const drivers = chains.list.map((client) => {
  const failureHoldSeconds = config.failureHolds[client.chain.name]
  return driveChain({ url, client, listener, log, failureHoldSeconds }, stopping)
})
onStop(() => Promise.all(drivers))
const attestations = connectAttestations(config.ATTESTATION_URL)
const attester = runAttester({ url, attestations, chains, listener, log }, stopping)
onStop(() => attester)
ready({ chains: chains.list.map(({ chain }) => chain.name) })
