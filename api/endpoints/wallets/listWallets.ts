import { z } from 'zod'
import { listWallets as listWalletRows } from '../../../db/accounts/wallets.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams } from '../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { readRoute } from '../../http/route.js'
import { walletAnswer } from '../../schemas/examples/resources.js'
import { listOf, wallet } from '../../schemas/resources.js'
import { safeText } from '../../schemas/safeText.js'
import { walletBody } from './walletBody.js'

export const listWallets = readRoute(
  {
    path: '/wallets',
    caller: apiKey({ credits: creditCosts.listWallets }),
    params: noParams,
    query: z.strictObject({
      ...pageQuery(/^svc_wallet_[0-9a-z]{26}$/),
      userId: safeText(128).optional().meta({ description: 'Only the wallet of this user.' }),
    }),
    docs: {
      operationId: 'listWallets',
      tag: 'Wallets',
      summary: 'List wallets',
      responses: {
        200: {
          description: 'A page of wallets.',
          schema: listOf(wallet, 'WalletList', 'Wallets, newest first.'),
          examples: { last: { data: [walletAnswer], hasMore: false, nextCursor: null } },
        },
      },
      errors: [],
    },
  },
  async ({ db, registry }, { caller, query }) => {
    const slice = toSlice(query)
    const { userId } = query
    const wallets = await listWalletRows(db, caller.accountId, { userId, slice })
    const body = pageBody(wallets, slice, (one) => walletBody(one, registry))
    return { status: 200, body }
  },
)
