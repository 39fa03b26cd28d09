import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { createSealedAccount } from '../../../custody/account.js'
import { findActiveKek } from '../../../db/keys.js'
import { lockAccount } from '../../../db/usage/metering.js'
import { insertWallet, newWalletId, walletByUser } from '../../../db/accounts/wallets.js'
import { ServiceError, invalidRequest } from '../../../domain/errors.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams, noQuery } from '../../http/input.js'
import { writeRoute } from '../../http/route.js'
import { createWalletRequest, walletAnswer } from '../../schemas/examples/resources.js'
import { metadata } from '../../schemas/metadata.js'
import { userIdInput } from '../../schemas/parameters.js'
import { wallet } from '../../schemas/resources.js'
import { walletBody } from './walletBody.js'

export const createWallet = writeRoute(
  {
    path: '/wallets',
    caller: apiKey({ credits: creditCosts.createWallet }),
    params: noParams,
    query: noQuery,
    body: z
      .strictObject({ userId: userIdInput, metadata: metadata.default({}) })
      .meta({ id: 'CreateWalletRequest' }),
    docs: {
      operationId: 'createWallet',
      tag: 'Wallets',
      summary: 'Create a wallet',
      description:
        'Creates the wallet of an end user, on every supported chain. Sending the same userId and metadata again returns the same wallet.',
      requests: { wallet: createWalletRequest },
      responses: {
        200: {
          description: 'The user already has this wallet.',
          schema: wallet,
          examples: { existing: walletAnswer },
          ids: { userId: 'userId', walletId: 'id' },
        },
        201: {
          description: 'The wallet was created.',
          schema: wallet,
          examples: { created: walletAnswer },
          ids: { userId: 'userId', walletId: 'id' },
        },
      },
      errors: ['WALLET_LIMIT_EXCEEDED'],
    },
  },
  async ({ db, registry }, { caller, body }, commit) => {
    const kek = await findActiveKek(db)
    if (!kek) throw new ServiceError('UNAVAILABLE', 'The signer has not started yet. Try again.')
    const id = newWalletId()
    const { accountId } = caller
    const { address, sealed } = createSealedAccount(kek, () => ({
      purpose: 'wallet',
      owner: id,
      accountId,
    }))
    const wallet = { id, accountId, address, ...body }
    const secret = { kekId: kek.id, sealed }
    return commit(async (trx) => {
      await lockAccount(trx, accountId)
      const created = await insertWallet(trx, wallet, secret)
      if (created) return { status: 201, body: walletBody(created, registry) }
      const existing = await walletByUser.get(trx, accountId, body.userId)
      // The database returns JSON: -0 becomes 0.
      const sent: unknown = JSON.parse(JSON.stringify(body.metadata))
      if (!isDeepStrictEqual(existing.metadata, sent)) throw userIdTaken()
      return { status: 200, body: walletBody(existing, registry) }
    })
  },
)

function userIdTaken(): ServiceError {
  const message = 'This userId already has a wallet with other metadata. Use another userId.'
  return invalidRequest('userId', message, 'user_id_taken')
}
