import { REDACTED, redact } from './redact.js'
import type { RequestIssue, ServiceError } from '../../../domain/errors.js'
import type { Given } from '../input.js'

/** Why a request was refused, as the request log stores it. No part of it is longer than its bound. */
export type Refusal = {
  message: string
  issues?: RefusedField[]
  idempotencyKey?: string
}

/** `value`: the refused value in JSON. Absent for fields with free text and for secrets. */
export type RefusedField = RequestIssue & { value?: string }

/** Bounds: at most about 3 kB in all. */
const MOST_ISSUES = 5
const MOST_MESSAGE = 400
const MOST_PATH = 80
const MOST_VALUE = 64
const MOST_KEY = 64

/** Fields whose values are names, amounts, identifiers and times of this API. Values of other fields are not stored. */
const openFields = new Set([
  ...['walletId', 'intentId', 'webhookId', 'deliveryId', 'fundingId', 'previewId'],
  ...['action', 'asset', 'amount', 'chain', 'fromChain', 'toChain', 'protocol', 'optimize'],
  ...['horizonDays', 'dryRun', 'graceHours', 'events', 'type', 'status', 'from', 'to', 'interval'],
  ...['createdAfter', 'createdBefore', 'errorCode', 'wait', 'version', 'limit', 'after'],
])

/**
 * The stored form of a refusal.
 *
 * @param given - The input of the call. The body may be unread.
 */
export function refusalOf(
  { message, details }: ServiceError,
  { given, idempotencyKey }: { given: Partial<Given>; idempotencyKey: string | undefined },
): Refusal {
  const issues = (details.issues ?? []) as RequestIssue[]
  return {
    message: redact(message, MOST_MESSAGE),
    ...(issues.length > 0 && {
      issues: issues.slice(0, MOST_ISSUES).map((issue) => toRefused(issue, given)),
    }),
    ...(idempotencyKey && { idempotencyKey: redact(idempotencyKey, MOST_KEY) }),
  }
}

function toRefused({ path, message }: RequestIssue, given: Partial<Given>): RefusedField {
  const field = { path: redact(path, MOST_PATH), message: redact(message, MOST_MESSAGE) }
  const value = valueAt(path, given)
  return value === undefined ? field : { ...field, value }
}

/** The value of a field in JSON, from the first part of the input that has it. */
function valueAt(path: string, { body, query, params }: Partial<Given>): string | undefined {
  const [name = '', ...inner] = path.split('.')
  if (!openFields.has(name)) return undefined
  const part = [body, query, params].find((one) => isObject(one) && Object.hasOwn(one, name))
  const value = [name, ...inner].reduce<unknown>(
    (outer, key) => (isObject(outer) && Object.hasOwn(outer, key) ? outer[key] : undefined),
    part,
  )
  return value === undefined || isObject(value) ? undefined : shownValue(value)
}

function shownValue(value: unknown): string | undefined {
  if (typeof value !== 'string') return JSON.stringify(value)
  // A long text is no name of this API, and its beginning may be a part of a secret.
  return value.length > MOST_VALUE ? REDACTED : JSON.stringify(redact(value, MOST_VALUE))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
