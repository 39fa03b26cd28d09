import { z } from 'zod'
import { walletById } from '../../../db/accounts/wallets.js'
import { roles } from '../../../domain/roles.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { noQuery } from '../../http/input.js'
import { walletIdInput } from '../../schemas/parameters.js'
import { walletBody } from '../wallets/walletBody.js'

/** By the id of the wallet. The public endpoint uses the caller's userId. */
export const getWalletById = memberRoute(
  {
    ...{ method: 'get', path: '/wallets/by-id/:walletId', roles },
    ...{ params: z.object({ walletId: walletIdInput }), query: noQuery, body: z.undefined() },
  },
  async ({ db, registry }, { caller, params: { walletId } }) => {
    const wallet = await walletById.get(db, caller.accountId, walletId)
    return { status: 200, body: walletBody(wallet, registry) }
  },
)
