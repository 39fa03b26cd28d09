import { z } from 'zod'
import { faults } from '../../domain/simulate.js'

const MAX_BYTES = 4_096
const MAX_DEPTH = 5

type JsonObject = Record<string, unknown>

/**
 * The free-form object of a wallet or an intent. It is validated and passed on without a copy: a copy would lose a key
 * like `__proto__`. Values that could not be returned unchanged are rejected.
 */
export const metadata = z
  .custom<JsonObject>(isObject, 'must be an object')
  .meta({
    description: `Any JSON object of at most 4 kB and ${MAX_DEPTH} levels. It is returned unchanged. Numbers with more digits than a double keeps are rejected: send them as text.`,
    examples: [{ tier: 'gold' }],
    override: { type: 'object', additionalProperties: true },
  })
  .superRefine((value, context) => {
    const message = faultOf(value)
    if (message) context.addIssue({ code: 'custom', message })
  })

const SIMULATE =
  'Test networks only: the intent fails with this code at the matching step, before a transaction of that step is sent. With BRIDGE_TIMEOUT it fails while the money is in the bridge, and recovers. Rejected on networks with real money, and when the plan has no such step.'

/** The metadata of an intent. The field `simulate` has a meaning. */
export const intentMetadata = metadata.meta({
  description: `Any JSON object of at most 4 kB and ${MAX_DEPTH} levels. It is returned unchanged. Numbers with more digits than a double keeps are rejected: send them as text. \`simulate\` is reserved.`,
  examples: [{ order: 'A-17' }],
  override: {
    type: 'object',
    properties: { simulate: { type: 'string', enum: faults, description: SIMULATE } },
    additionalProperties: true,
  },
})

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function faultOf(value: JsonObject): string | undefined {
  if (isDeeper(value, MAX_DEPTH)) return `is nested deeper than ${MAX_DEPTH} levels`
  const json = JSON.stringify(value)
  if (Buffer.byteLength(json) > MAX_BYTES) return 'is larger than 4 kB'
  return isStorable(json) ? undefined : 'has invalid characters'
}

/** Stops at the limit: the body may be nested thousands of levels deep. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

/** `JSON.stringify` escapes NUL and lone surrogates, which are refused in all texts alike. */
const isStorable = (json: string) => !/\\u0000|\\ud[89a-f]/i.test(json.replaceAll('\\\\', ''))
