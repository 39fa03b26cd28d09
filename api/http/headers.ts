import { z } from 'zod'

const wholeNumber = { type: 'integer', minimum: 0 } as const

/** Response headers as shared components of the document. `required`: on every response of its kind. */
export const headers = {
  'X-Request-Id': {
    description: 'Identifies the request in logs and in `details.requestId` of errors.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9a-z]{26}$' },
    example: 'req_01m7y67md0fp2a6jp2hqsp94hw',
  },
  'X-RateLimit-Limit': {
    description: 'Requests allowed in a minute.',
    required: true,
    schema: wholeNumber,
    example: 1000,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in this window.',
    required: true,
    schema: wholeNumber,
    example: 999,
  },
  'X-RateLimit-Reset': {
    description: 'Unix time in seconds at which the window ends.',
    required: true,
    schema: wholeNumber,
    example: 1795235820,
  },
  'X-Credits-Charged': {
    description:
      'Credits that this call cost. Absent when the key is not valid, or with the reason `outcome_unknown`.',
    schema: wholeNumber,
    example: 1,
  },
  'X-Credits-Remaining': {
    description: 'Credits left after this call, where the service knows it.',
    schema: { type: 'integer' },
    example: 9999,
  },
  'Idempotent-Replayed': {
    description: 'Present when this is the stored response to an earlier call with the same key.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    required: true,
    schema: wholeNumber,
    example: 12,
  },
  'WWW-Authenticate': {
    description: 'The scheme to use.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
} as const

/** The request header of every POST. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x20-\x7e]+$/)
  .optional()
  .meta({
    description:
      'A key that you choose for this request, such as a UUID. A repeated request with the same key and body returns the stored response. Nothing is executed or charged twice. With another body it is rejected. Keys of `POST /intents` never expire, others expire after 30 days.',
    examples: ['6f9c2f0e-0d6c-4a4e-9b52-0c1f5f3f1c11'],
    param: { id: 'IdempotencyKey' },
  })
