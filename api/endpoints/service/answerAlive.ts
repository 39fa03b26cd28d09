import type { RequestHandler } from 'express'

/** Liveness: the process responds. */
export const answerAlive: RequestHandler = (_request, response) => {
  response.json({ status: 'ok' })
}
