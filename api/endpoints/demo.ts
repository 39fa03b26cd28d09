import { z } from 'zod'
import { disabledBecause } from '../../chains/connect.js'
import { insertFunding, type Funding } from '../../db/intents/fundings.js'
import { assertNotFrozen } from '../../db/lanes/stops.js'
import { walletById } from '../../db/tenants/wallets.js'
import { capabilityDisabled } from '../../domain/errors.js'
import { demoFunding } from '../../domain/funding.js'
import { prices } from '../../domain/prices.js'
import { assetText } from '../../domain/money.js'
import { startFunding } from '../../temporal/start.js'
import { fundRequest, fundingAnswer } from '../schemas/examples.js'
import { walletIdInput } from '../schemas/parameters.js'
import { apiKey } from '../http/apiKey.js'
import { noParams, noQuery } from '../http/input.js'
import { writeRoute } from '../http/route.js'
import { funding as fundingSchema } from '../schemas/resources.js'
import type { Services } from '../http/services.js'

const fundWallet = writeRoute(
  {
    path: '/demo/fund',
    caller: apiKey({ credits: prices.fundWallet }),
    params: noParams,
    query: noQuery,
    body: z.strictObject({ walletId: walletIdInput }).meta({ id: 'FundWalletRequest' }),
    docs: {
      operationId: 'fundWallet',
      tag: 'Demo',
      summary: 'Fund a testnet wallet',
      description: 'Sends exactly 1 USDC on arbitrum-sepolia. It arrives after a delay.',
      requests: { funding: fundRequest },
      responses: {
        201: {
          description: 'The money is on its way.',
          schema: fundingSchema,
          examples: { pending: fundingAnswer },
        },
      },
      errors: ['WALLET_NOT_FOUND'],
    },
  },
  async (services, { caller, requestId, body }, commit) => {
    const { db, registry, temporal, log } = services
    const { accountId } = caller
    const { chainId } = registry.get(demoFunding.chain)
    const { id: walletId } = await walletById.get(db, accountId, body.walletId)
    await assertNotFrozen(db, accountId, walletId)
    await assertFunded(services)
    let funding: Funding | undefined
    const answer = await commit(async (trx) => {
      const { units } = demoFunding
      funding = await insertFunding(trx, { accountId, walletId, chainId, units })
      return { status: 201, body: fundingBody(funding) }
    })
    // The row is durable from here on: a start that fails or is late is the sweeper's.
    if (funding) {
      await startFunding({ temporal, db }, funding).catch((error: unknown) => {
        log.warn({ err: error, funding: funding?.id, requestId }, 'workflow not started yet')
      })
    }
    return answer
  },
)

export const demoRoutes = [fundWallet]

/** What was found broken may have been put right since: a treasury is filled, say. */
async function assertFunded({ chains, registry, prober }: Services): Promise<void> {
  const client = chains.byId(registry.get(demoFunding.chain).chainId)
  if (disabledBecause(client, 'funding') === undefined) return
  await prober.probe()
  const why = disabledBecause(client, 'funding')
  if (why) throw capabilityDisabled(`No test money can be sent on ${demoFunding.chain}`, why)
}

const fundingBody = ({ id, walletId, createdAt }: Funding) => ({
  id,
  walletId,
  status: 'pending',
  chain: demoFunding.chain,
  asset: demoFunding.asset,
  amount: Number(assetText(demoFunding.units)),
  createdAt: createdAt.toISOString(),
})
