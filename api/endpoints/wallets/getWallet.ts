import { z } from 'zod'
import { walletByUser } from '../../../db/accounts/wallets.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noQuery } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { walletAnswer } from '../../schemas/examples/resources.js'
import { userIdInput } from '../../schemas/parameters.js'
import { wallet } from '../../schemas/resources.js'
import { walletBody } from './walletBody.js'

export const getWallet = readRoute(
  {
    path: '/wallets/:userId',
    caller: apiKey({ credits: creditCosts.readWallet }),
    params: z.object({ userId: userIdInput }),
    query: noQuery,
    search: { lookup: walletByUser, by: ({ userId }) => userId },
    docs: {
      operationId: 'getWallet',
      tag: 'Wallets',
      summary: 'Get a wallet by userId',
      responses: {
        200: {
          description: 'The wallet.',
          schema: wallet,
          examples: { wallet: walletAnswer },
          ids: { userId: 'userId', walletId: 'id' },
        },
      },
      errors: ['WALLET_NOT_FOUND'],
    },
  },
  ({ registry }, { found }) => ({ status: 200, body: walletBody(found, registry) }),
)
