import { z } from 'zod'
import { getFunding as getFundingRow } from '../../../db/intents/fundings.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { readRoute } from '../../http/route.js'
import { completedFunding } from '../../schemas/examples/resources.js'
import { fundingIdInput, secondsToWait } from '../../schemas/parameters.js'
import { funding as fundingSchema } from '../../schemas/resources.js'
import { readUntil, versionOf, type State, type Waiting } from '../readUntil.js'
import { fundingBody } from './fundingBody.js'

/** Interval of reads, milliseconds. A failed funding writes no event. */
const RECHECK_MS = 2_000

export const getFunding = readRoute(
  {
    path: '/demo/fund/:fundingId',
    caller: apiKey({ credits: creditCosts.readFunding }),
    params: z.object({ fundingId: fundingIdInput }),
    query: z.strictObject({
      wait: secondsToWait('Seconds to wait until the funding is completed or failed.'),
    }),
    waits: ({ wait }) => wait,
    docs: {
      operationId: 'getFunding',
      tag: 'Demo',
      summary: 'Get the state of a funding',
      responses: {
        200: {
          description: 'The funding.',
          schema: fundingSchema,
          examples: { completed: completedFunding },
        },
      },
      errors: ['FUNDING_NOT_FOUND'],
    },
  },
  async (services, { caller: { accountId }, params, query: { wait: seconds }, whenGone }) => {
    const { db, registry } = services
    async function read(): Promise<State & { walletId: string }> {
      const { funding, operation } = await getFundingRow(db, accountId, params.fundingId)
      const body = fundingBody(registry, funding, operation)
      const isOver = body.status !== 'pending'
      return { body, version: versionOf(body), isOver, walletId: funding.walletId }
    }
    const state = await read()
    if (seconds === 0 || state.isOver) return { status: 200, body: state.body }
    const { walletId } = state
    const waiting: Waiting = {
      ...{ accountId, seconds, recheckMs: RECHECK_MS, gone: whenGone() },
      filter: { walletId, types: ['wallet.funded'] },
      isEnough: ({ isOver }) => isOver,
    }
    return { status: 200, body: (await readUntil(services, waiting, read)).body }
  },
)
