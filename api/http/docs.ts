import type { ErrorCode } from '../../domain/errors.js'
import type { Schema } from './input.js'

/** An answer that ends well, as the document shows it. Each example has a name. */
export type Reply = {
  description: string
  schema: Schema
  examples: Record<string, unknown>
}

/** What the published document says of an endpoint, besides what it takes. */
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
  /** Bodies to send, by name. */
  requests?: Record<string, unknown>
  responses: { 200?: Reply; 201?: Reply }
  /** What the endpoint tells as server-sent events; `example` as they go over the wire. */
  stream?: { description: string; example: string }
  /** Besides those that every endpoint may answer with. */
  errors: ErrorCode[]
}
