import { z } from 'zod'
import { disabledBecause } from '../../../evm/connect.js'
import { insertFunding, lockFundings, secondsUntilFunding } from '../../../db/intents/fundings.js'
import { getUsableWallet, readPauses, whyPaused } from '../../../db/pauses.js'
import { ServiceError, capabilityDisabled } from '../../../domain/errors.js'
import { demoFunding, type FundingLimits } from '../../../domain/intent/funding.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams, noQuery } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { fundRequest, fundingAnswer } from '../../schemas/examples/resources.js'
import { walletIdInput } from '../../schemas/parameters.js'
import { funding as fundingSchema } from '../../schemas/resources.js'
import { fundingBody } from './fundingBody.js'
import type { Db } from '../../../db/client/connect.js'
import type { Services } from '../../http/services.js'

export const fundWallet = writeRoute(
  {
    path: '/demo/fund',
    caller: apiKey({ credits: creditCosts.fundWallet }),
    params: noParams,
    query: noQuery,
    body: z.strictObject({ walletId: walletIdInput }).meta({ id: 'FundWalletRequest' }),
    docs: {
      operationId: 'fundWallet',
      tag: 'Demo',
      summary: 'Fund a testnet wallet',
      description:
        'Sends exactly 1 USDC on arbitrum-sepolia. It arrives after a delay. A deployment may limit the fundings per day of a wallet and of an account. RATE_LIMITED then reports the limit, and `Retry-After` the seconds until the next funding.',
      requests: { funding: fundRequest },
      responses: {
        201: {
          description: 'The money is on its way.',
          schema: fundingSchema,
          examples: { pending: fundingAnswer },
          ids: { fundingId: 'id' },
        },
      },
      errors: ['WALLET_NOT_FOUND'],
    },
  },
  async (services, { caller, body }, commit) => {
    const { db, registry } = services
    const { accountId } = caller
    const { chainId } = registry.get(demoFunding.chain)
    const { id: walletId } = await getUsableWallet(db, accountId, body.walletId)
    await assertFunded(services)
    // A worker starts stored fundings.
    return commit(async (trx) => {
      const { units } = demoFunding
      await assertWithinLimits(trx, { accountId, walletId }, services.fundingLimits)
      const funding = await insertFunding(trx, { accountId, walletId, chainId, units })
      return { status: 201, body: fundingBody(registry, funding) }
    })
  },
)

/** Probes again before it rejects: the cause may be fixed, such as an empty treasury. */
async function assertFunded({ db, chains, registry, prober }: Services): Promise<void> {
  const { chainId } = registry.get(demoFunding.chain)
  const paused = whyPaused(await readPauses(db), chainId)
  if (paused) throw capabilityDisabled(`No test money can be sent on ${demoFunding.chain}`, paused)
  const client = chains.byId(chainId)
  if (disabledBecause(client, 'funding') === undefined) return
  await prober.probe()
  const why = disabledBecause(client, 'funding')
  if (why) throw capabilityDisabled(`No test money can be sent on ${demoFunding.chain}`, why)
}

/** Locks the fundings of the account until the transaction ends. Throws RATE_LIMITED when a limit is reached. */
async function assertWithinLimits(
  trx: Db,
  { accountId, walletId }: { accountId: string; walletId: string },
  { perWallet, perAccount }: FundingLimits,
): Promise<void> {
  if (perWallet === 0 && perAccount === 0) return
  await lockFundings(trx, accountId)
  const ofWallet = await secondsUntilFunding(trx, { wallet_id: walletId }, perWallet)
  const ofAccount = await secondsUntilFunding(trx, { account_id: accountId }, perAccount)
  const retryAfter = Math.max(ofWallet, ofAccount)
  if (retryAfter === 0) return
  const isAccount = ofAccount >= ofWallet
  const limit = isAccount ? perAccount : perWallet
  const times = limit === 1 ? 'once' : `${limit} times`
  const subject = isAccount ? 'An account' : 'A wallet'
  const message = `${subject} is funded at most ${times} a day. Try again in ${retryAfter} s.`
  throw new ServiceError('RATE_LIMITED', message, { limit, window: '1 day', retryAfter })
}
