import { z } from 'zod'
import { listYields, type StoredRate } from '../../../db/yields.js'
import { aliasOf } from '../../../evm/registry.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { readRoute } from '../../http/route.js'
import { yieldHistoryAnswer } from '../../schemas/examples/resources.js'
import { listOf, yieldSnapshot } from '../../schemas/resources.js'
import { rateFilters } from './rateFilters.js'

/** At most 18 digits, so that the id fits a bigint column. */
const cursorIds = /^[1-9]\d{0,17}$/

const time = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time such as `2026-11-21T04:36:02Z`' })
    .optional()
    .meta({ description, examples: ['2026-11-21T00:00:00Z'] })

export const listYieldHistory = readRoute(
  {
    path: '/yields/history',
    caller: apiKey({ credits: creditCosts.readYieldHistory }),
    params: noParams,
    query: z.strictObject({
      ...pageQuery(cursorIds),
      ...rateFilters,
      from: time('Not before this time.'),
      to: time('Before this time.'),
    }),
    docs: {
      operationId: 'listYieldHistory',
      tag: 'Yields',
      summary: 'Get past APYs',
      description: 'Lists past rates of each market, read every 5 minutes, newest first.',
      responses: {
        200: {
          description: 'A page of past rates.',
          schema: listOf(yieldSnapshot, 'YieldHistory', 'Past rates, newest first.'),
          examples: { last: yieldHistoryAnswer },
        },
      },
      errors: [],
    },
  },
  async ({ db }, { query }) => {
    const { chain, protocol, asset, from, to } = query
    const slice = toSlice(query)
    const filter = {
      ...{ chain, protocol, asset },
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    }
    const snapshots = await listYields(db, filter, slice)
    return { status: 200, body: pageBody(snapshots, slice, snapshotBody) }
  },
)

const snapshotBody = ({ chain, protocol, asset, apyPercent, takenAt }: StoredRate) => ({
  chain,
  alias: aliasOf(chain),
  protocol,
  asset,
  apy: Number(apyPercent),
  takenAt: takenAt.toISOString(),
})
