import { toWebRequest } from '@modelcontextprotocol/node'
import { Router, type Request, type Response } from 'express'
import { z } from 'zod'
import { invalidRequest } from '../../domain/errors.js'
import { apiKey } from '../http/auth/apiKey.js'
import { enter, toVisit, type Purpose } from '../http/auth/door.js'
import { methodNotAllowed } from '../http/errors.js'
import { readJson } from '../http/input.js'
import { onlyKnownOrigins } from '../http/auth/origin.js'
import { openCall, type Asked, type OpenCall } from './call.js'
import { answerMessage } from './exchange.js'
import { createTools, type Tool } from './tools.js'
import type { Endpoints } from '../docs/openapi.js'
import type { Services } from '../http/services.js'

const PATH = '/mcp'

/**
 * The Model Context Protocol: endpoints of the API as tools of a language model, by the same door and functions.
 * Each message is a request that is counted; a tool costs what its endpoint costs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function serveMcp(services: Services, endpoints: Endpoints): Router {
  const tools = createTools(endpoints)
  const router = Router()
  router.use(PATH, onlyKnownOrigins(services.dashboard.publicUrl))
  router.post(PATH, async (request, response) => {
    const { message, fault } = await readMessage(request, response)
    const asked = findCall(tools, message)
    const call = asked ? await openCall(services, response, asked) : undefined
    const scopes = call ? [] : await admitMessage(services, response)
    if (fault) throw fault
    const listed = tools.filter(({ route }) => scopes.includes(route.purpose.scope))
    await answer({ call, tools: listed }, { request, response, message })
  })
  router.all(PATH, (request) => {
    throw methodNotAllowed(request, ['POST'])
  })
  return router
}

type Exchange = { request: Request; response: Response; message: unknown }

async function answer(
  { call, tools }: { call: OpenCall | undefined; tools: Tool[] },
  { request, response, message }: Exchange,
): Promise<void> {
  const offer = { tools, call: call?.run }
  const told = await answerMessage(offer, await toWebRequest(request, message), message)
  const text = await told.text()
  await call?.close()
  // An answer that came too late has been given already.
  if (response.headersSent) return
  told.headers.forEach((value, name) => response.setHeader(name, value))
  response.status(told.status).end(text)
}

/** A message, and what is wrong with it: that is told to known callers only. */
type Read = { message?: unknown; fault?: Error }

async function readMessage(request: Request, response: Response): Promise<Read> {
  try {
    await readJson({ body: z.unknown() }, request, response)
  } catch (error) {
    return { fault: error as Error }
  }
  const message: unknown = request.body
  if (!Array.isArray(message)) return { message }
  return { fault: invalidRequest('', 'Send one message at a time, not several in an array.') }
}

const toolCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).default({}),
  }),
})

/** The call that a message asks for, if there is such a tool. */
function findCall(tools: Tool[], message: unknown): Asked | undefined {
  const { data } = toolCall.safeParse(message)
  const tool = data && tools.find(({ name }) => name === data.params.name)
  return tool && { tool, args: data.params.arguments }
}

const anyMessage: Purpose = { route: `POST ${PATH}`, scope: 'read' }
const anyKey = apiKey({ credits: 0 })

/** Lets in what calls no tool: it is counted, and costs nothing. The scopes of its key. */
async function admitMessage(services: Services, response: Response): Promise<string[]> {
  const { scopes } = await enter(anyKey, toVisit(services, response, anyMessage))
  return scopes
}
