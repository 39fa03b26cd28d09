import { z } from 'zod'
import { errorCatalog, type ErrorCode } from '../../domain/errors.js'
import { waitingCodes } from '../../domain/intent/waiting.js'
import { knownName } from './parameters.js'
import { safeText } from './safeText.js'

/** Requests and responses of the dashboard for requests, credits and the overview of an account. */

const isDay = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00Z`).toJSON()?.startsWith(text)

/** A day in UTC. */
export const dayInput = z.string().refine(isDay, 'must be a day such as `2026-11-22`')
/** `404`, `4xx`, or `error` for all from 400 on. */
export const statusInput = z
  .string()
  .regex(/^([1-5]\d\d|[1-5]xx|error)$/, 'must be a status, such as `404`, or `4xx`, or `error`')
  .transform((text): [number, number] => {
    if (text === 'error') return [400, 599]
    if (!text.endsWith('xx')) return [Number(text), Number(text)]
    const first = Number(text.charAt(0)) * 100
    return [first, first + 99]
  })
export const requestIdInput = z
  .string()
  .regex(/^req_[0-9a-z]{0,26}$/, 'must be the id of a request, or its beginning: `req_…`')
export const resourceInput = z
  .string()
  .regex(
    /^(svc_wallet|intent|fund|key|wh)_[0-9a-z]{26}$/,
    'must be the id of a wallet, an intent, a funding, a key or a webhook',
  )
export const callerInput = safeText(64)
export const methodInput = knownName(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
export const codeInput = knownName(Object.keys(errorCatalog) as ErrorCode[])
export const searchInput = safeText(128)

const time = z.iso.datetime()
const count = z.number().int().min(0)
const text = z.string()

export const requestEntry = z.strictObject({
  id: text,
  at: time,
  method: text,
  /** The pattern of the route. */
  path: text,
  status: count,
  code: text.nullable(),
  credits: count,
  ms: count,
  /** Sent with a key or by a signed-in user: one of the two is null. */
  keyId: text.nullable(),
  userId: text.nullable(),
  /** The key as the list of keys shows it. */
  key: z.strictObject({ name: text, prefix: text, lastFour: text }).nullable(),
  walletId: text.nullable(),
  resourceId: text.nullable(),
  /** Why the call was refused, without secrets. Null for a call without an error. */
  refusal: z
    .strictObject({
      message: text,
      /** `value`: in JSON, for fields that hold no free text. */
      issues: z
        .array(z.strictObject({ path: text, message: text, value: text.optional() }))
        .optional(),
      idempotencyKey: text.optional(),
    })
    .nullable(),
})

const sums = { requests: count, errors: count, credits: count }
export const usageDays = z.strictObject({
  data: z.array(z.strictObject({ day: text, endpoint: text, ...sums })),
})
export const keyUse = z.strictObject({ data: z.array(z.strictObject({ day: text, ...sums })) })

export const ledgerEntry = z.strictObject({
  id: text,
  at: time,
  type: z.enum(['charge', 'refund', 'grant', 'lapse', 'purchase', 'other']),
  /** Endpoint of a charge, month of a grant or a lapse. */
  detail: text.nullable(),
  delta: z.number().int(),
  requestId: text,
})

const counted = z.strictObject({
  since: time,
  requests: count,
  errors: count,
  /** From 0 to 1; null without requests. */
  successRate: z.number().min(0).max(1).nullable(),
})

export const overviewAnswer = z.strictObject({
  credits: z.strictObject({
    balance: z.number().int(),
    totalPurchased: z.number().int(),
    totalUsed: z.number().int(),
    plan: text,
    /** Monthly credits, without purchased ones. The rest lapses at `endsAt`. */
    month: z.strictObject({ given: count, left: count, endsAt: time }),
  }),
  requests: z.strictObject({ day: counted, week: counted }),
  money: z.strictObject({
    /** Deposits minus withdrawals, without interest and wallet balances. */
    basis: z.literal('deposited'),
    markets: z.array(z.strictObject({ chain: text, protocol: text, asset: text, deposited: text })),
  }),
  /** Intents of today in UTC by status. */
  intentsToday: z.record(text, count),
  firstSteps: z.strictObject({
    keyUsed: z.boolean(),
    walletMade: z.boolean(),
    moneyThere: z.boolean(),
    intentCompleted: z.boolean(),
  }),
})

/** The ranges of a trend: a whole number of hours or UTC days up to now. */
export const trendRanges = {
  '24h': { unit: 'hour', units: 24 },
  '7d': { unit: 'day', units: 7 },
  '30d': { unit: 'day', units: 30 },
} as const
export type TrendRangeName = keyof typeof trendRanges
export const trendRangeInput = z.enum(['24h', '7d', '30d']).default('7d')

const trendSums = {
  /** USD of the completed intents, one dollar per token. */
  volumeUsd: text,
  completed: count,
  /** Without cancelled ones. */
  failed: count,
  /** Half of the completed intents took at most this long from their creation. */
  p50Ms: z.number().min(0).nullable(),
  /** Known gas cost of the operations that ended. */
  gasUsd: text,
}

export const trendsAnswer = z.strictObject({
  from: time,
  to: time,
  /** The start of the range, or later when it has more intents than are summed. */
  since: time,
  unit: z.enum(['hour', 'day']),
  current: z.strictObject(trendSums),
  /** The range before, up to the same part of its last unit. Null when a range has more intents than are summed. */
  previous: z.strictObject(trendSums).nullable(),
  /** Every unit of the range, oldest first. The last one is not over. */
  points: z.array(z.strictObject({ at: time, ...trendSums })),
})

const attentionItem = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('paused'),
    scope: z.enum(['account', 'wallet', 'chain', 'deployment']),
    /** Name of a chain, id of a wallet or the account, or empty. */
    subject: text,
    since: time,
  }),
  /** Intents that failed in the last days and can be retried. */
  z.strictObject({ kind: z.literal('failed'), count }),
  /** Open intents that wait for unusually long, with their wait reasons. */
  z.strictObject({ kind: z.literal('waiting'), count, codes: z.array(z.enum(waitingCodes)) }),
  z.strictObject({
    kind: z.literal('webhook'),
    id: text,
    url: text,
    disabledReason: z.enum(['by_account', 'gone', 'failing']).nullable(),
    /** Deliveries of the last day that failed, and those that are retried. */
    ...{ failed: count, pending: count },
  }),
  z.strictObject({
    kind: z.literal('credits'),
    balance: z.number().int(),
    monthly: count,
    endsAt: time,
  }),
  z.strictObject({ kind: z.literal('key'), id: text, name: text, expiresAt: time }),
])
/** What needs attention, the most urgent first. Counts end at 101. */
export const attentionAnswer = z.strictObject({ data: z.array(attentionItem) })

export const searchAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      kind: z.enum(['intent', 'wallet', 'request', 'key']),
      id: text,
      /** Below `/dashboard`. */
      path: text,
    }),
  ),
})

export type UsageDay = z.infer<typeof usageDays>['data'][number]
export type KeyUseDay = z.infer<typeof keyUse>['data'][number]
export type RequestEntryBody = z.infer<typeof requestEntry>
export type LedgerEntryBody = z.infer<typeof ledgerEntry>
export type OverviewAnswer = z.infer<typeof overviewAnswer>
export type AttentionItem = z.infer<typeof attentionItem>
export type TrendsAnswer = z.infer<typeof trendsAnswer>
export type SearchAnswer = z.infer<typeof searchAnswer>

/** Average rate of a market from this time until the next point. */
export const yieldPoint = z.strictObject({
  ...{ chain: text, protocol: text, asset: text },
  /** Percent. */
  apy: z.number(),
  at: time,
})
export type YieldPointBody = z.infer<typeof yieldPoint>
