import { z } from 'zod'
import { listIntentLines, type IntentLine } from '../../../../db/usage/usage.js'
import { assetText } from '../../../../domain/money.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { sendCsv, type CsvTable } from '../../../http/csv.js'
import { intentFilterQuery, toIntentFilter } from '../../../schemas/parameters.js'
import { anyMemberReads } from '../memberSpecs.js'
import { toCsvTable } from './toCsvTable.js'
import type { Slice } from '../../../../db/client/slice.js'

export const downloadIntents = memberRoute(
  { ...anyMemberReads, path: '/intents.csv', query: z.strictObject(intentFilterQuery) },
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
  toCsvTable('intents', read, {
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
