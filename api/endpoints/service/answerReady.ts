import { isMigrated } from '../../../db/connection/migrate.js'
import { findActiveKek } from '../../../db/keys.js'
import { isAvailable, isTemporalAvailable } from './isAvailable.js'
import type { RequestHandler } from 'express'
import type { Services } from '../../http/services.js'

/**
 * Ready: Postgres, its schema and the signer's public key are there. 503 names what is not. Without Temporal the
 * API is degraded, not down: intents are stored, and begin when it is back.
 */
export function answerReady({ db, temporal }: Services): RequestHandler {
  return async (request, response, next) => {
    // What an operator wants to know besides is told to whoever has a key.
    if (request.query.verbose === 'true') return next()
    const [postgres, signer, workflows] = await Promise.all([
      isAvailable(() => isMigrated(db)),
      isAvailable(async () => (await findActiveKek(db)) !== undefined),
      isTemporalAvailable(temporal),
    ])
    const ready = postgres && signer
    const degraded = ready && !workflows
    response
      .status(ready ? 200 : 503)
      .json({ ready, postgres, signer, temporal: workflows, degraded })
  }
}
