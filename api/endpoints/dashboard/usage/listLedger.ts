import { z } from 'zod'
import { listLedger as listLedgerRows, type LedgerRow } from '../../../../db/usage/usage.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { sendCsv, type CsvTable } from '../../../http/csv.js'
import { pageBody, pageQuery, toSlice } from '../../../http/pages.js'
import { anyMemberReads } from '../memberSpecs.js'
import { toCsvTable } from './toCsvTable.js'
import type { LedgerEntryBody } from '../../../schemas/activity.js'
import type { Slice } from '../../../../db/client/slice.js'

export const listLedger = memberRoute(
  {
    ...anyMemberReads,
    path: '/usage/ledger',
    query: z.strictObject({
      ...pageQuery(/^\d{1,18}$/),
      format: z.enum(['json', 'csv']).default('json'),
    }),
  },
  async ({ db }, { caller: { accountId }, query, request, response }) => {
    if (query.format === 'csv' || request.accepts(['json', 'csv']) === 'csv') {
      await sendCsv(
        response,
        ledgerTable((slice) => listLedgerRows(db, accountId, slice)),
      )
      return { status: 200, body: undefined }
    }
    const slice = toSlice(query)
    const rows = await listLedgerRows(db, accountId, slice)
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
  toCsvTable('ledger', read, {
    id: ({ id }) => id,
    at: ({ at }) => at,
    type: (row) => ledgerBody(row).type,
    detail: (row) => ledgerBody(row).detail,
    credits: ({ delta }) => delta,
    request_id: ({ requestId }) => requestId,
  })
