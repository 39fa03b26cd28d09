import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { connectChains } from '../evm/connect.js'
import { createRegistry } from '../evm/registry.js'
import { dailyLimitsOf, loadConfig } from '../runtime/config.js'
import { assertNetwork, connect } from '../db/client/connect.js'
import { listenToOperations } from '../db/client/listen.js'
import { ensureSenders, ensureRefills, ensureTreasury, loadKek } from './senders/keys.js'
import { createStopFile } from './check/stopFile.js'
import { runRefills } from './senders/refill.js'
import { runSigner } from './sign.js'
import { signerStates, watchQueue } from '../operations/queue.js'
import { createProber, watchDeployment } from '../operations/health/watch.js'
import { runProcess } from '../runtime/process.js'
import { createLog } from '../runtime/log.js'

const config = loadConfig('signer', process.env)
const log = createLog('signer', config.LOG_LEVEL)
const { stopping, onStop, ready } = runProcess(log)

const registry = createRegistry(config.NETWORK, config.DEVNET_FILE)
const chains = connectChains(registry, config.rpcUrls, log)
// One connection per sender, and one to poll for work.
const db = connect(config.DATABASE_URL, chains.list.length * config.SENDERS_PER_CHAIN + 1)
onStop(() => db.destroy())

await assertNetwork(db, config.NETWORK)
const watch = watchDeployment(createProber({ chains, registry }), log, stopping)
onStop(() => watch.ended)

const kek = await loadKek(db, config.KEK_FILE)
const chainIds = registry.chains.map(({ chainId }) => chainId)
await ensureSenders(db, kek, { chainIds, perChain: config.SENDERS_PER_CHAIN })
const treasury = await ensureTreasury(db, kek)
await ensureRefills(db, treasury, chainIds)

const listener = listenToOperations(config.directDatabaseUrl, stopping)
const queue = watchQueue(listener, stopping, signerStates)
const stopFile = createStopFile(
  config.SIGNER_STOP_FILE ?? join(dirname(config.KEK_FILE), 'stop-signing'),
  log,
)
const keyring = { kek, treasury, leaseOwner: `${hostname()}/${randomUUID()}`, stopFile }
await watch.first
const limits = { ...config.limits, ...dailyLimitsOf(config) }
const operationGasWei = config.OPERATION_GAS_ETH
const tools = { db, chains, registry, keyring, limits, operationGasWei, log }
const running = runSigner(tools, queue, stopping)
onStop(() => running)
const changes = watchQueue(listener, stopping, ['signed', 'deferred'])
const refilling = { db, chains, keyring, log, limits: config.refills, reported: new Set<string>() }
const keptFilled = runRefills(refilling, changes, stopping)
onStop(() => keptFilled)
ready({ kek: kek.id, treasury: treasury.address })
