import { toWebRequest } from '@modelcontextprotocol/node'
import { Router, type Request, type Response } from 'express'
import { z } from 'zod'
import { invalidRequest } from '../../domain/errors.js'
import { apiKey } from '../http/auth/apiKey.js'
import { authenticate, toRequestContext, type Purpose } from '../http/auth/authScheme.js'
import { methodNotAllowed } from '../http/errors.js'
import { readJson } from '../http/body/readJson.js'
import { onlyKnownOrigins } from '../http/auth/origin.js'
import { openCall, type OpenCall, type ToolCall } from './call.js'
import { answerMessage } from './exchange.js'
import { createTools, type Tool } from './tools.js'
import type { Endpoints } from '../docs/openapi.js'
import type { Services } from '../http/services.js'

const PATH = '/mcp'

/**
 * The Model Context Protocol: endpoints of the API as tools of a language model, with the same authentication and
 * handlers. Each message counts as a request. A tool costs the same as its endpoint.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function serveMcp(services: Services, endpoints: Endpoints): Router {
  const tools = createTools(endpoints)
  const router = Router()
  router.use(PATH, onlyKnownOrigins(services.dashboard.publicUrl))
  router.post(PATH, async (request, response) => {
    const { message, fault } = await readMessage(request, response)
    const toolCall = findCall(tools, message)
    const call = toolCall ? await openCall(services, response, toolCall) : undefined
    const scopes = call ? [] : await admitMessage(services, response)
    if (fault) throw fault
    const listed = tools.filter(({ route }) => scopes.includes(route.purpose.scope))
    await answer({ call, tools: listed }, { request, response, message })
  })
  router.all(PATH, (request) => {
    throw methodNotAllowed(request, { allow: ['POST'] })
  })
  return router
}

type McpExchange = { request: Request; response: Response; message: unknown }

async function answer(
  { call, tools }: { call: OpenCall | undefined; tools: Tool[] },
  { request, response, message }: McpExchange,
): Promise<void> {
  const offer = { tools, call: call?.run }
  const reply = await answerMessage(offer, await toWebRequest(request, message), message)
  const text = await reply.text()
  await call?.close()
  // The deadline may have sent a response already.
  if (response.headersSent) return
  reply.headers.forEach((value, name) => response.setHeader(name, value))
  response.status(reply.status).end(text)
}

const anyJson = z.json()

/** A message, or the fault that makes it invalid. Only authenticated callers receive the fault. */
type ReadMessage = { message?: unknown; fault?: Error }

async function readMessage(request: Request, response: Response): Promise<ReadMessage> {
  try {
    await readJson({ body: anyJson }, request, response)
  } catch (error) {
    return { fault: error as Error }
  }
  const message: unknown = request.body
  if (!Array.isArray(message)) return { message }
  return { fault: invalidRequest('', 'Batches are not supported. Send one message per request.') }
}

const toolCallMessage = z.object({
  method: z.literal('tools/call'),
  params: z.object({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).default({}),
  }),
})

/** The tool call in a message, undefined for an unknown tool or another message. */
function findCall(tools: Tool[], message: unknown): ToolCall | undefined {
  const { data } = toolCallMessage.safeParse(message)
  const tool = data && tools.find(({ name }) => name === data.params.name)
  return tool && { tool, args: data.params.arguments }
}

const anyMessage: Purpose = { route: `POST ${PATH}`, scope: 'read' }
const anyKey = apiKey({ credits: 0 })

/** Authenticates a message without a tool call. It is free. Returns the scopes of the key. */
async function admitMessage(services: Services, response: Response): Promise<string[]> {
  const { scopes } = await authenticate(anyKey, toRequestContext(services, response, anyMessage))
  return scopes
}
