import type { RequestHandler } from 'express'

/** Alive: the process answers. */
export const answerAlive: RequestHandler = (_request, response) => {
  response.json({ status: 'ok' })
}
