import { claimNetwork, connect } from '../db/client/connect.js'
import { migrate } from '../db/client/migrate.js'
import { networks } from '../evm/registry.js'

const {
  DATABASE_URL,
  NETWORK,
  STEWARD_API_PASSWORD: api,
  STEWARD_WORKER_PASSWORD: worker,
  STEWARD_RELAYER_PASSWORD: relayer,
  STEWARD_SIGNER_PASSWORD: signer,
} = process.env

const network = networks.find((name) => name === NETWORK)
if (!DATABASE_URL || !network) {
  console.error(
    `Set DATABASE_URL (of the database owner) and NETWORK (one of ${networks.join(', ')}).`,
  )
  process.exit(1)
}
const isComplete = api && worker && relayer && signer
if (!isComplete && (api || worker || relayer || signer)) {
  console.error(
    'Set all of STEWARD_API_PASSWORD, STEWARD_WORKER_PASSWORD, STEWARD_RELAYER_PASSWORD and STEWARD_SIGNER_PASSWORD, or none of them.',
  )
  process.exit(1)
}

await migrate(DATABASE_URL, isComplete ? { api, worker, relayer, signer } : undefined)
const db = connect(DATABASE_URL, 1)
await claimNetwork(db, network)
await db.destroy()
console.log(`The database is up to date (${network}).`)
