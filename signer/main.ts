import { hostname } from 'node:os'
import { connectChains } from '../chains/connect.js'
import { createRegistry } from '../chains/registry.js'
import { loadConfig } from '../config.js'
import { assertNetwork, connect } from '../db/connection/connect.js'
import { listenToOperations } from '../db/connection/listen.js'
import { ensureLanes, ensureTreasury, loadKek } from './keys.js'
import { runSigner } from './sign.js'
import { signerStates, watchQueue } from '../db/lanes/queue.js'
import { createProber, watchDeployment } from '../probe/watch.js'
import { superviseProcess } from '../process.js'
import { createLog } from '../log.js'

const config = loadConfig('signer', process.env)
const log = createLog('signer', config.LOG_LEVEL)
const { stopping, onStop, ready } = superviseProcess(log)

const registry = createRegistry(config.NETWORK, config.DEVNET_FILE)
const chains = connectChains(registry, config.rpcUrls, log)
const db = connect(config.DATABASE_URL)
onStop(() => db.destroy())

await assertNetwork(db, config.NETWORK)
const watch = watchDeployment(createProber({ chains, registry }), log, stopping)
onStop(() => watch.ended)

const kek = await loadKek(db, config.KEK_FILE)
const chainIds = registry.chains.map(({ chainId }) => chainId)
await ensureLanes(db, kek, { chainIds, perChain: config.LANES_PER_CHAIN })
const treasury = await ensureTreasury(db, kek)

const listener = listenToOperations(config.directDatabaseUrl, stopping)
const queue = watchQueue(listener, stopping, signerStates)
const taker = `${hostname()}/${process.pid}`
const keyring = { kek, treasury, taker }
await watch.first
const running = runSigner({ db, chains, registry, keyring, log }, queue, stopping)
onStop(() => running)
ready({ kek: kek.id, treasury: treasury.address })
