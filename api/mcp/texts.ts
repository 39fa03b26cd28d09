import { ServiceError } from '../../domain/errors.js'

/** Texts of the API in terms of tools: endpoints become tools, and the idempotency key is the preview. */

/** The tool of an endpoint. `*` stands for an id. */
const toolOf: Record<string, string> = {
  'GET /yields': 'get_yields',
  'GET /balances/*': 'get_balances',
  'GET /positions/*': 'get_positions',
  'POST /intents': 'create_intent',
  'GET /intents': 'list_intents',
  'GET /intents/*': 'get_intent',
}

const endpoints = /`?\b(GET|POST) (\/[\w\-/:{}]+)`?/g
const isForeign = /\b(GET|POST) \/|Idempotency-Key/

/** There is no tool for a retry: a preview of the rest shows what it would do. */
const RETRY = /Retry the intent with `POST \/v1\/intents\/:intentId\/retry`\./
const PREVIEW = 'Preview what is left to do with `preview_intent`.'

/**
 * A text of the API for the caller of a tool. A sentence that only a client of the API can follow is left out.
 *
 * @param takes - Names of the tool's parameters.
 */
export function inTools(text: string, takes: readonly string[]): string {
  const key = takes.includes('previewId') ? '`previewId`' : 'Idempotency-Key'
  const sentences = text
    .replace(RETRY, PREVIEW)
    .replace(endpoints, (whole, method: string, path: string) => {
      const tool = toolOf[`${method} ${patternOf(path)}`]
      return tool ? `\`${tool}\`` : whole
    })
    .replace(/`?Idempotency-Key`?/g, key)
    .split(/(?<=\.) /)
  return sentences.filter((sentence) => !isForeign.test(sentence)).join(' ')
}

const patternOf = (path: string) =>
  path.replace(/^\/v1\b/, '').replace(/\/(:\w+|\{\w+\})(?=\/|$)/g, '/*')

/** Fields that name the cancellation and the retry of an intent. No tool makes these calls. */
const callsOnly = new Set(['actions', 'retryFrom'])

/** The response of an endpoint for the caller of its tool. `positions` names a tool instead of a path. */
export function toToolBody(body: ToolBody): ToolBody {
  const own = Object.fromEntries(Object.entries(body).filter(([name]) => !callsOnly.has(name)))
  if (typeof own.positions === 'string') own.positions = toolOf['GET /positions/*']
  return Array.isArray(own.data) ? { ...own, data: own.data.map(toToolBody) } : own
}

type ToolBody = Record<string, unknown>

/** The error of an endpoint for the caller of its tool. `takes`: as `inTools`. */
export function toToolError(error: ServiceError, takes: readonly string[]): ServiceError {
  const message = inTools(error.message, takes)
  const { issues } = error.details as { issues?: { path: string; message: string }[] }
  const shown = issues?.map((issue) => ({ ...issue, message: inTools(issue.message, takes) }))
  const details = { ...error.details, ...(shown && { issues: shown }) }
  return new ServiceError(error.code as 'INTERNAL', message, details, { cause: error.cause })
}
