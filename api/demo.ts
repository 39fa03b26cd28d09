import { z } from 'zod'
import { insertFunding } from '../db/fundings.js'
import { getWallet } from '../db/wallets.js'
import { demoFunding } from '../domain/funding.js'
import { safeText } from '../domain/intent.js'
import { fromUnits } from '../domain/money.js'
import { startFunding } from '../temporal/start.js'
import { noParams, route } from './route.js'

const fundWallet = route(
  {
    method: 'post',
    path: '/demo/fund',
    params: noParams,
    body: z.strictObject({ walletId: safeText(64) }),
  },
  async ({ db, registry, temporal, log }, { account, requestId, body }) => {
    const wallet = await getWallet(db, account.id, body.walletId)
    const { chainId, usdc } = registry.get(demoFunding.chain)
    const funding = await insertFunding(db, {
      accountId: account.id,
      walletId: wallet.id,
      chainId,
      units: demoFunding.units,
    })
    // The row is durable from here on: a start that fails or is late is the sweeper's.
    await startFunding(temporal, db, funding).catch((error: unknown) => {
      log.warn({ err: error, funding: funding.id, requestId }, 'workflow not started yet')
    })
    return {
      status: 201,
      body: {
        id: funding.id,
        walletId: wallet.id,
        status: 'pending',
        chain: demoFunding.chain,
        asset: demoFunding.asset,
        amount: Number(fromUnits(demoFunding.units, usdc.decimals)),
        createdAt: funding.createdAt.toISOString(),
      },
    }
  },
)

export const demoRoutes = [fundWallet]
