import { findActiveKek } from '../../../db/keys.js'
import { isMigrated } from '../../../db/connection/migrate.js'
import { atMost } from '../../../timeout.js'
import { pingTemporal } from '../../../temporal/connect.js'
import type { RequestHandler } from 'express'
import type { Services } from '../../http/services.js'

/** A dependency that answers later is not there: the answer comes within the second that usual probes allow. */
const PROBE_MS = 900

/** Alive: the process answers. */
export const answerAlive: RequestHandler = (_request, response) => {
  response.json({ status: 'ok' })
}

/**
 * Ready: Postgres, its schema and the signer's public key are there. 503 names what is not. Without Temporal the
 * API is degraded, not down: intents are stored, and begin when it is back.
 */
export function answerReady({ db, temporal }: Services): RequestHandler {
  return async (request, response, next) => {
    // What an operator wants to know besides is told to whoever has a key.
    if (request.query.verbose === 'true') return next()
    const [postgres, signer, workflows] = await Promise.all([
      probe(() => isMigrated(db)),
      probe(async () => (await findActiveKek(db)) !== undefined),
      isTemporalThere(temporal),
    ])
    const ready = postgres && signer
    const degraded = ready && !workflows
    response
      .status(ready ? 200 : 503)
      .json({ ready, postgres, signer, temporal: workflows, degraded })
  }
}

/** Whether Temporal answers at once. */
export const isTemporalThere = (temporal: Services['temporal']): Promise<boolean> =>
  probe(() => pingTemporal(temporal).then(() => true))

/** Whether `check` comes true in time. */
async function probe(check: () => Promise<boolean>): Promise<boolean> {
  const answer = (async () => check())().catch(() => false)
  return (await atMost(answer, PROBE_MS)) ?? false
}
