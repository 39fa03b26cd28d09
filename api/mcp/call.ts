import { ServiceError } from '../../domain/errors.js'
import { forgetCharge } from '../http/credits.js'
import { toRequestContext } from '../http/auth/authScheme.js'
import { errorBody, noteError } from '../http/errors.js'
import { noteTool } from '../http/requestLog.js'
import { otherParameters } from './intents.js'
import { toToolBody, toToolError } from './texts.js'
import { toGiven, type Tool } from './tools.js'
import type { Response } from 'express'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Respond } from '../http/route.js'
import type { Services } from '../http/services.js'

export type ToolCall = { tool: Tool; args: Record<string, unknown> }

/** An authenticated call of a tool. */
export type OpenCall = {
  run(): Promise<CallToolResult>
  /** Refunds a call that was not run. Called when the response is complete. */
  close(): Promise<void>
}

/**
 * Authenticates a call by the auth scheme of its endpoint. Errors that a model can act on become the result of the
 * call. An invalid key and too many requests concern its client and are reported by HTTP status.
 *
 * @throws {ServiceError} UNAUTHORIZED, RATE_LIMITED.
 */
export async function openCall(
  services: Services,
  response: Response,
  { tool, args }: ToolCall,
): Promise<OpenCall> {
  const { route, scheme } = tool
  const given = toGiven(route, args)
  noteTool(response, tool.name, given)
  const context = toRequestContext(services, response, route.purpose)
  const respond = await route.open(context, scheme, given.params).catch(toRefused)
  let wasRun = false
  return {
    async run() {
      wasRun = true
      try {
        const { text, headers = {} } = await respond(given, tool.nameOf?.(args))
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        return toResult(toToolBody(JSON.parse(text) as Record<string, unknown>))
      } catch (error) {
        const known = noteError(services.log, response, ofPreview(error))
        const shown = toToolError(known, Object.keys(tool.inputSchema.properties ?? {}))
        return { ...toResult(errorBody(shown, context.requestId)), isError: true }
      }
    },
    async close() {
      if (wasRun) return
      await scheme.refund(context)
      forgetCharge(response)
    },
  }
}

/** Rejects a call when it is run. */
function toRefused(error: unknown): Respond {
  const isOfClient = !(error instanceof ServiceError) || clientCodes.has(error.code)
  if (isOfClient) throw error
  return () => Promise.reject(error)
}

const clientCodes = new Set(['UNAUTHORIZED', 'RATE_LIMITED'])

/** Callers of tools do not send an Idempotency-Key: the error names the preview instead. */
function ofPreview(error: unknown): unknown {
  const isReused =
    error instanceof ServiceError && error.details.reason === 'idempotency_key_reused'
  return isReused ? otherParameters() : error
}

/** Structured content for programs, and the same as text for clients that pass on text only. */
const toResult = (body: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(body) }],
  structuredContent: body,
})
