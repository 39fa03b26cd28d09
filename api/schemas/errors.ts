import { z } from 'zod'
import { errorCatalog, type ErrorCode } from '../../domain/errors.js'
import { reasonCatalog, reasonsOf } from '../../domain/reasons.js'
import { fundsAt } from './fields.js'

const requestId = z
  .string()
  .regex(/^req_[0-9a-z]{26}$/)
  .meta({
    id: 'RequestId',
    description: 'Identifies the request, for support. Same as the header `X-Request-Id`.',
    examples: ['req_01m7y67md0fp2a6jp2hqsp94hw'],
  })

const docs = z
  .string()
  .regex(/^\/docs\/errors#\w+$/)
  .meta({
    id: 'ErrorDocs',
    description: 'Page with the meaning of the error and what to do.',
    examples: ['/docs/errors#INVALID_REQUEST'],
  })

const decimalText = z.string().regex(/^\d+(\.\d+)?$/)

const issue = z
  .strictObject({
    path: z.string().meta({ description: 'Field or header; empty for the request as a whole.' }),
    message: z.string(),
  })
  .meta({ id: 'Issue', description: 'A problem with one part of the request.' })

/** `WalletNotFound` for WALLET_NOT_FOUND. */
export const nameOf = (code: ErrorCode) =>
  code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())

/** The reasons of a code, with their meanings. */
function reasonSchema(code: ErrorCode) {
  const names = reasonsOf(code)
  const meanings = names.map((name) => `\`${name}\`: ${reasonCatalog[name].meaning}`)
  return z.enum(names).meta({
    id: `${nameOf(code)}Reason`,
    description: ['Names a special case.', ...meanings].join(' '),
  })
}

const heldFunds = z
  .strictObject({
    intentId: z.string(),
    step: z.int().positive(),
    chain: z.string(),
    asset: z.string(),
    amount: decimalText,
    since: z.iso.datetime().meta({ description: 'When that intent was created.' }),
    why: z.enum(['open', 'not_final']).meta({
      description:
        '`open`: the step will spend it. `not_final`: the step has failed, and the money is released at `until`, once a reorg is unlikely to revert that.',
    }),
    until: z.iso.datetime().optional().meta({
      description: 'When the money is released. Absent while the failure is not confirmed.',
    }),
  })
  .meta({ id: 'HeldFunds', description: 'Money that a step of another intent reserves.' })

const incomingFunds = z
  .strictObject({
    fundingId: z.string(),
    chain: z.string(),
    asset: z.string(),
    amount: decimalText,
    since: z.iso.datetime().meta({ description: 'When it was requested.' }),
  })
  .meta({ id: 'IncomingFunds', description: 'Test money on its way.' })

/** Fields of `details` by code, besides the request id. */
const detailsOf: Partial<Record<ErrorCode, z.ZodRawShape>> = {
  INVALID_REQUEST: {
    issues: z.array(issue),
    reason: reasonSchema('INVALID_REQUEST').optional(),
    retryAfter: z.int().positive().optional().meta({
      description: 'Seconds after which the call may succeed. With the reason `not_final`.',
    }),
    until: z.iso.datetime().optional().meta({
      description:
        'When the failure settles and the call succeeds. With the reason `not_final`, once the failure is confirmed.',
    }),
    smallest: decimalText.optional().meta({
      description: 'Smallest amount, in whole tokens. With the reason `below_minimum`.',
    }),
  },
  INSUFFICIENT_FUNDS: {
    required: z
      .string()
      .regex(/^(max|\d+(\.\d+)?)$/)
      .meta({ description: 'Whole tokens that the intent needs, or `max`.' }),
    available: decimalText.meta({
      description: 'Whole tokens that the intent may use, on one chain.',
    }),
    funds: z
      .array(fundsAt)
      .meta({ description: 'Unreserved money by place. For a withdrawal: lent money.' }),
    held: z.array(heldFunds).max(10).optional().meta({
      description:
        'Reservations of other intents of the wallet, oldest first, at most ten. Absent without reservations.',
    }),
    onItsWay: z.array(incomingFunds).max(10).optional().meta({
      description:
        'Test money on its way to the wallet. `GET /v1/demo/fund/{fundingId}` returns its status. Absent without any.',
    }),
    reason: reasonSchema('INSUFFICIENT_FUNDS').optional(),
  },
  INSUFFICIENT_CREDITS: {
    required: z.int().meta({ description: 'Credits that the call costs.' }),
    available: z.int().meta({ description: 'Credits that are left.' }),
  },
  WALLET_LIMIT_EXCEEDED: { limit: z.int().meta({ description: 'Wallets that the plan allows.' }) },
  RATE_LIMITED: {
    limit: z.number().meta({
      description:
        'Maximum of the window: requests per minute, fundings per day, open streams, open intents, or USD of gas per day.',
    }),
    window: z.enum(['1 minute', '1 day', 'open streams', 'open intents', 'gas of a UTC day']),
    used: z
      .number()
      .optional()
      .meta({ description: 'USD of gas that the account has used today.' }),
    required: z.number().optional().meta({ description: 'Estimated gas of the intent, USD.' }),
    retryAfter: z
      .int()
      .positive()
      .meta({ description: 'Seconds until the next attempt may succeed.' }),
  },
  METHOD_NOT_ALLOWED: {
    allow: z.array(z.string()).meta({ description: 'The methods that the path supports.' }),
  },
  UNAVAILABLE: { reason: reasonSchema('UNAVAILABLE').optional() },
  RPC_ERROR: {
    silent: z.array(z.string()).optional().meta({ description: 'Chains that do not respond.' }),
  },
}

type Example = { message: string; details?: Record<string, unknown> }

/** From responses of a running service. */
const examples: Partial<Record<ErrorCode, Example>> = {
  INVALID_REQUEST: {
    message: 'walletID is not a field of this request. Did you mean walletId?',
    details: {
      issues: [
        {
          path: 'walletID',
          message: 'walletID is not a field of this request. Did you mean walletId?',
        },
      ],
    },
  },
  INSUFFICIENT_FUNDS: {
    message: 'The intent needs 250 USDC on one chain. 1 is available.',
    details: {
      required: '250',
      available: '1',
      funds: [
        { chain: 'ethereum-sepolia', asset: 'USDC', amount: '0' },
        { chain: 'arbitrum-sepolia', asset: 'USDC', amount: '1' },
        { chain: 'base-sepolia', asset: 'USDC', amount: '0' },
      ],
    },
  },
  UNAUTHORIZED: {
    message: 'The API key is missing. Send it as `Authorization: Bearer svc_sk_…`.',
  },
  FORBIDDEN: { message: 'This key may not write. Use one with the scope write.' },
  INSUFFICIENT_CREDITS: {
    message: 'This call costs 5 credits; the account has 3 left.',
    details: { required: 5, available: 3 },
  },
  WALLET_LIMIT_EXCEEDED: { message: 'This plan allows 100 wallets.', details: { limit: 100 } },
  RATE_LIMITED: {
    message: 'More than 100 requests in a minute. Try again in 12 s.',
    details: { limit: 100, window: '1 minute', retryAfter: 12 },
  },
  WALLET_NOT_FOUND: { message: 'This userId has no wallet. Create one with POST /v1/wallets.' },
  INTENT_NOT_FOUND: { message: 'There is no intent with this id.' },
  FUNDING_NOT_FOUND: { message: 'There is no funding with this id.' },
  RPC_ERROR: {
    message: 'No response from base-sepolia.',
    details: { silent: ['base-sepolia'] },
  },
  UNAVAILABLE: { message: 'The service is temporarily unavailable. Try again.' },
  INTERNAL: { message: 'Something went wrong. Report the request id.' },
}

const schemas = new Map<ErrorCode, z.ZodObject>()

/** The body of one error. The same object for the same code. */
export function errorSchema(code: ErrorCode): z.ZodObject {
  const known = schemas.get(code)
  if (known) return known
  const { hint } = errorCatalog[code]
  const schema = z
    .strictObject({
      error: z.literal(code),
      message: z.string().meta({ description: 'Description of the error.' }),
      details: z.strictObject({ ...detailsOf[code], docs, requestId }),
    })
    .meta({ id: `${nameOf(code)}Error`, description: hint })
  schemas.set(code, schema)
  return schema
}

/** An example response with this code. */
export function errorExample(code: ErrorCode): unknown {
  const { message, details } = examples[code] ?? { message: errorCatalog[code].hint }
  return {
    error: code,
    message,
    details: {
      ...details,
      docs: `/docs/errors#${code}`,
      requestId: 'req_01m7y67md0fp2a6jp2hqsp94hw',
    },
  }
}
