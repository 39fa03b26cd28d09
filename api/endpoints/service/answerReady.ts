import { isMigrated } from '../../../db/client/migrate.js'
import { findActiveKek } from '../../../db/keys.js'
import { isAvailable, isTemporalAvailable } from './isAvailable.js'
import type { RequestHandler } from 'express'
import type { Services } from '../../http/services.js'

/**
 * Responds with 200 when Postgres, its schema and the signer's public key are available, else with 503 and the state of
 * each. Without Temporal the API is degraded: it stores intents, and they start when Temporal is back. So it is while all
 * endpoints of a chain throttle requests; `throttled` lists these chains.
 */
export function answerReady({ db, temporal, chains }: Services): RequestHandler {
  return async (request, response, next) => {
    // The verbose report needs a key. Its route also rejects other values.
    if (!['false', undefined].includes(request.query.verbose as string | undefined)) return next()
    const [postgres, signer, workflows] = await Promise.all([
      isAvailable(() => isMigrated(db)),
      isAvailable(async () => (await findActiveKek(db)) !== undefined),
      isTemporalAvailable(temporal),
    ])
    const ready = postgres && signer
    const throttled = chains.list
      .filter((client) => client.throttledUntil() !== undefined)
      .map(({ chain }) => chain.name)
    const degraded = ready && (!workflows || throttled.length > 0)
    const body = { ready, postgres, signer, temporal: workflows, degraded }
    response
      .status(ready ? 200 : 503)
      .json({ ...body, ...(throttled.length > 0 ? { throttled } : {}) })
  }
}
