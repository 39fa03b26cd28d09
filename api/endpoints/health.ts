import { findActiveKek } from '../../db/keys.js'
import { isMigrated } from '../../db/connection/connect.js'
import type { RequestHandler } from 'express'
import type { Services } from '../http/services.js'

/** A dependency that answers later than this is not there. */
const PROBE_MS = 1_500

/** Alive: the process answers. */
export const answerAlive: RequestHandler = (_request, response) => {
  response.json({ status: 'ok' })
}

/** Ready: Postgres, its schema, the signer's public key and Temporal are there. 503 names what is not. */
export function answerReady({ db, temporal }: Services): RequestHandler {
  const askTemporal = () =>
    temporal.withDeadline(Date.now() + PROBE_MS, () => temporal.workflowService.getSystemInfo({}))
  return async (_request, response) => {
    const [schema, signer, workflows] = await Promise.all([
      probe(() => isMigrated(db)),
      probe(async () => (await findActiveKek(db)) !== undefined),
      probe(async () => Boolean(await askTemporal())),
    ])
    const ready = schema && signer && workflows
    response
      .status(ready ? 200 : 503)
      .json({ ready, postgres: schema, signer, temporal: workflows })
  }
}

/** Whether `check` comes true in time. */
async function probe(check: () => Promise<boolean>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => {
    setTimeout(resolve, PROBE_MS, false).unref()
  })
  const answer = (async () => check())()
  return Promise.race([answer.catch(() => false), late])
}
