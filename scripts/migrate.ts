import { claimNetwork, connect } from '../db/connection/connect.js'
import { migrate } from '../db/connection/migrate.js'
import { networks } from '../chains/registry.js'

const {
  DATABASE_URL,
  NETWORK,
  STEWARD_API_PASSWORD: api,
  STEWARD_WORKER_PASSWORD: worker,
  STEWARD_LANES_PASSWORD: lanes,
  STEWARD_SIGNER_PASSWORD: signer,
} = process.env

const network = networks.find((name) => name === NETWORK)
if (!DATABASE_URL || !network) {
  console.error(
    `Set DATABASE_URL (of the database owner) and NETWORK (one of ${networks.join(', ')}).`,
  )
  process.exit(1)
}
const isComplete = api && worker && lanes && signer
if (!isComplete && (api || worker || lanes || signer)) {
  console.error(
    'Set all of STEWARD_API_PASSWORD, STEWARD_WORKER_PASSWORD, STEWARD_LANES_PASSWORD and STEWARD_SIGNER_PASSWORD, or none of them.',
  )
  process.exit(1)
}

await migrate(DATABASE_URL, isComplete ? { api, worker, lanes, signer } : undefined)
const db = connect(DATABASE_URL, 1)
await claimNetwork(db, network)
await db.destroy()
console.log(`The database is up to date (${network}).`)
