import type { ErrorCode } from '../../domain/errors.js'
import type { Schema } from './input.js'

/** Fields of a response that other endpoints take, by the name of their parameter: `{ walletId: 'id' }`. */
export type DocumentedIds = Record<string, string>

/** A 2xx response in the document. Examples are keyed by their names. */
export type DocumentedResponse = {
  description: string
  schema: Schema
  examples: Record<string, unknown>
  /** The document links to the endpoints that take them. */
  ids?: DocumentedIds
}

/** An endpoint in the published document, apart from its parameters and body. */
export type Docs = {
  operationId: string
  tag:
    | 'Wallets'
    | 'Balances'
    | 'Yields'
    | 'Intents'
    | 'Events'
    | 'Webhooks'
    | 'Positions'
    | 'Demo'
    | 'Account'
    | 'Operation'
  summary: string
  description?: string
  /** Example bodies by name. */
  requests?: Record<string, unknown>
  responses: { 200?: DocumentedResponse; 201?: DocumentedResponse }
  /** Server-sent events of the endpoint. `example`: as on the wire. */
  stream?: { description: string; example: string }
  /** The response with status 200 or 503 to a call without a key. Default: every call needs a key. */
  probe?: { schema: Schema; example: unknown }
  /** In addition to the codes that every endpoint may respond with. */
  errors: ErrorCode[]
}
