import { ServiceError } from '../../domain/errors.js'
import { forgetCharge } from '../http/credits.js'
import { toVisit } from '../http/auth/door.js'
import { errorBody, noteError } from '../http/errors.js'
import { noteTool } from '../http/requestLog.js'
import { otherParameters } from './intents.js'
import { toGiven, type Tool } from './tools.js'
import type { Response } from 'express'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Respond } from '../http/route.js'
import type { Services } from '../http/services.js'

export type Asked = { tool: Tool; args: Record<string, unknown> }

/** A call that was let in. */
export type OpenCall = {
  run(): Promise<CallToolResult>
  /** When its message is answered: what was charged for a call that was not run comes back. */
  close(): Promise<void>
}

/**
 * Lets a call in by the door of its endpoint. What a model can do something about is told to it as the result of the
 * call; an unknown key and too many requests are its client's matter, and answered by HTTP.
 *
 * @throws {ServiceError} UNAUTHORIZED, RATE_LIMITED.
 */
export async function openCall(
  services: Services,
  response: Response,
  { tool, args }: Asked,
): Promise<OpenCall> {
  const { route, door } = tool
  noteTool(response, tool.name)
  const visit = toVisit(services, response, route.purpose)
  const given = toGiven(route, args)
  const respond = await route.open(visit, door, given.params).catch(toRefused)
  let wasRun = false
  return {
    async run() {
      wasRun = true
      try {
        const { text, headers = {} } = await respond(given, tool.nameOf?.(args))
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        return toResult(JSON.parse(text) as Record<string, unknown>)
      } catch (error) {
        const known = noteError(services.log, response, inTermsOfTools(error))
        return { ...toResult(errorBody(known, visit.requestId)), isError: true }
      }
    },
    async close() {
      if (wasRun) return
      await door.refund(visit)
      forgetCharge(response)
    },
  }
}

/** A call that is refused when it is run. */
function toRefused(error: unknown): Respond {
  const isOfClient = !(error instanceof ServiceError) || clientCodes.has(error.code)
  if (isOfClient) throw error
  return () => Promise.reject(error)
}

const clientCodes = new Set(['UNAUTHORIZED', 'RATE_LIMITED'])

/** Callers of tools know nothing of the header that names a request elsewhere. */
function inTermsOfTools(error: unknown): unknown {
  const isReused =
    error instanceof ServiceError && error.details.reason === 'idempotency_key_reused'
  return isReused ? otherParameters() : error
}

/** For programs, and as text for models whose client hands on nothing else. */
const toResult = (body: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(body) }],
  structuredContent: body,
})
