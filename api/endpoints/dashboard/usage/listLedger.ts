import { z } from 'zod'
import {
  hasKey,
  listIntentLines,
  listLedger,
  readKeyUse,
  readUsageDays,
  type Days,
  type IntentLine,
  type LedgerRow,
} from '../../../../db/tenants/usage.js'
import { ServiceError, invalidRequest } from '../../../../domain/errors.js'
import { assetText } from '../../../../domain/money.js'
import { roles } from '../../../../domain/roles.js'
import { sendCsv, type Cell, type CsvTable } from '../../../http/csv.js'
import { noParams } from '../../../http/input.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { pageBody, pageQuery, toSlice } from '../../../http/pages.js'
import { dayInput, type LedgerEntryBody } from '../../../schemas/activity.js'
import { idInput } from '../../../schemas/dashboard.js'
import { intentFilterQuery, toIntentFilter } from '../../../schemas/parameters.js'
import { DAY_MS } from '../../../../durations.js'
import type { Slice } from '../../../../db/connection/slice.js'

/** For whoever is signed in, whatever he may do. */
const reading = { method: 'get', params: noParams, body: z.undefined(), roles } as const

/** A leap year. */
const MOST_DAYS = 366
const DEFAULT_DAYS = 30

const dayText = (at: number) => new Date(at).toISOString().slice(0, 10)
const lastDays = (count: number): Days => ({
  from: dayText(Date.now() - (count - 1) * DAY_MS),
  to: dayText(Date.now()),
})

const readDays = memberRoute(
  {
    ...reading,
    path: '/usage/days',
    query: z.strictObject({ from: dayInput.optional(), to: dayInput.optional() }),
  },
  async ({ db }, { caller, query }) => {
    const last = lastDays(DEFAULT_DAYS)
    const days = { from: query.from ?? last.from, to: query.to ?? last.to }
    assertDays(days)
    return { status: 200, body: { data: await readUsageDays(db, caller.accountId, days) } }
  },
)

function assertDays({ from, to }: Days): void {
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (count < 1) throw invalidRequest('from', 'from must not be after to.')
  if (count > MOST_DAYS) throw invalidRequest('from', `Ask for ${MOST_DAYS} days at most.`)
}

const useOfKey = memberRoute(
  {
    ...reading,
    path: '/keys/:id/use',
    params: z.object({ id: idInput }),
    query: z.strictObject({
      days: z
        .string()
        .regex(/^\d{1,3}$/, 'must be a whole number of days')
        .transform(Number)
        .refine((days) => days >= 1 && days <= MOST_DAYS, `must be from 1 to ${MOST_DAYS}`)
        .default(DEFAULT_DAYS),
    }),
  },
  async ({ db }, { caller: { accountId }, params: { id }, query: { days } }) => {
    if (!(await hasKey(db, accountId, id))) {
      throw new ServiceError('NOT_FOUND', 'There is no key with this id.')
    }
    const data = await readKeyUse(db, accountId, { keyId: id, ...lastDays(days) })
    return { status: 200, body: { data } }
  },
)

/** Rows that are read at once for a file. */
const FILE_PAGE = 500

const readLedger = memberRoute(
  {
    ...reading,
    path: '/usage/ledger',
    query: z.strictObject({ ...pageQuery, format: z.enum(['json', 'csv']).default('json') }),
  },
  async ({ db }, { caller: { accountId }, query, request, response }) => {
    if (query.format === 'csv' || request.accepts(['json', 'csv']) === 'csv') {
      await sendCsv(
        response,
        ledgerTable((slice) => listLedger(db, accountId, slice)),
      )
      return { status: 200, body: undefined }
    }
    const slice = toSlice(query, /^\d{1,18}$/)
    const rows = await listLedger(db, accountId, slice)
    return { status: 200, body: pageBody(rows, slice, ledgerBody) }
  },
)

const entryTypes: readonly string[] = ['charge', 'refund', 'grant', 'lapse', 'purchase']

function ledgerBody({ id, at, reason, delta, requestId }: LedgerRow): LedgerEntryBody {
  const colon = reason.indexOf(':')
  const type = colon < 0 ? reason : reason.slice(0, colon)
  return {
    ...{ id, requestId },
    at: at.toISOString(),
    type: entryTypes.includes(type) ? (type as LedgerEntryBody['type']) : 'other',
    detail: colon < 0 ? null : reason.slice(colon + 1),
    delta: Number(delta),
  }
}

const ledgerTable = (read: (slice: Slice) => Promise<LedgerRow[]>): CsvTable =>
  tableOf('ledger', read, {
    id: ({ id }) => id,
    at: ({ at }) => at,
    type: (row) => ledgerBody(row).type,
    detail: (row) => ledgerBody(row).detail,
    credits: ({ delta }) => delta,
    request_id: ({ requestId }) => requestId,
  })

const intentsFile = memberRoute(
  { ...reading, path: '/intents.csv', query: z.strictObject(intentFilterQuery) },
  async ({ db }, { caller: { accountId }, query, response }) => {
    const filter = toIntentFilter(query)
    await sendCsv(
      response,
      intentTable((slice) => listIntentLines(db, accountId, { ...filter, slice })),
    )
    return { status: 200, body: undefined }
  },
)

const intentTable = (read: (slice: Slice) => Promise<IntentLine[]>): CsvTable =>
  tableOf('intents', read, {
    id: ({ id }) => id,
    created_at: ({ createdAt }) => createdAt,
    completed_at: ({ completedAt }) => completedAt,
    user_id: ({ userId }) => userId,
    wallet_id: ({ walletId }) => walletId,
    action: ({ action }) => action,
    asset: ({ asset }) => asset,
    amount: ({ units }) => assetText(BigInt(units)),
    from_chain: ({ fromChain }) => fromChain,
    chain: ({ chain }) => chain,
    status: ({ status }) => status,
    error_code: ({ code }) => code,
    retry_of: ({ retryOf }) => retryOf,
    request_id: ({ requestId }) => requestId,
  })

/** A list as a file: its columns by name, read page by page. */
function tableOf<Row extends { id: string }>(
  name: string,
  read: (slice: Slice) => Promise<Row[]>,
  columns: Record<string, (row: Row) => Cell>,
): CsvTable {
  return {
    name,
    columns: Object.keys(columns),
    async readPage(after) {
      const found = await read({ limit: FILE_PAGE, ...(after !== undefined && { before: after }) })
      const shown = found.slice(0, FILE_PAGE)
      const rows = shown.map((row) => Object.values(columns).map((cellOf) => cellOf(row)))
      return { rows, next: found.length > FILE_PAGE ? shown.at(-1)?.id : undefined }
    },
  }
}

export const usageRoutes = [readDays, useOfKey, readLedger, intentsFile]
