import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { createSealedAccount } from '../../../custody/account.js'
import {
  insertWallet,
  listWallets,
  newWalletId,
  walletByUser,
  type Wallet,
} from '../../../db/tenants/wallets.js'
import { lockAccount } from '../../../db/tenants/metering.js'
import { findActiveKek } from '../../../db/keys.js'
import { ServiceError, invalidRequest } from '../../../domain/errors.js'
import { safeText } from '../../schemas/safeText.js'
import { prices } from '../../../domain/prices.js'
import { metadata } from '../../schemas/metadata.js'
import { createWalletRequest, walletAnswer } from '../../schemas/examples/resources.js'
import { userIdInput } from '../../schemas/parameters.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams, noQuery } from '../../http/input.js'
import { readRoute, writeRoute } from '../../http/route.js'
import { listOf, wallet } from '../../schemas/resources.js'
import type { Services } from '../../http/services.js'

const createWallet = writeRoute(
  {
    path: '/wallets',
    caller: apiKey({ credits: prices.createWallet }),
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
        },
        201: {
          description: 'The wallet was created.',
          schema: wallet,
          examples: { created: walletAnswer },
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
      // As the database would give it back: -0 becomes 0.
      const sent: unknown = JSON.parse(JSON.stringify(body.metadata))
      if (!isDeepStrictEqual(existing.metadata, sent)) throw userIdTaken()
      return { status: 200, body: walletBody(existing, registry) }
    })
  },
)

const readWallet = readRoute(
  {
    path: '/wallets/:userId',
    caller: apiKey({ credits: prices.readWallet }),
    params: z.object({ userId: userIdInput }),
    query: noQuery,
    search: { lookup: walletByUser, by: ({ userId }) => userId },
    docs: {
      operationId: 'getWallet',
      tag: 'Wallets',
      summary: 'Get a wallet by userId',
      responses: {
        200: { description: 'The wallet.', schema: wallet, examples: { wallet: walletAnswer } },
      },
      errors: ['WALLET_NOT_FOUND'],
    },
  },
  ({ registry }, { found }) => ({ status: 200, body: walletBody(found, registry) }),
)

const listAllWallets = readRoute(
  {
    path: '/wallets',
    caller: apiKey({ credits: prices.listWallets }),
    params: noParams,
    query: z.strictObject({
      ...pageQuery,
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
    const slice = toSlice(query, /^svc_wallet_[0-9a-z]{26}$/)
    const { userId } = query
    const wallets = await listWallets(db, caller.accountId, { userId, slice })
    const body = pageBody(wallets, slice, (one) => walletBody(one, registry))
    return { status: 200, body }
  },
)

export const walletRoutes = [createWallet, listAllWallets, readWallet]

/** A wallet as every endpoint tells of it. */
export function walletBody(wallet: Wallet, { chains }: Services['registry']) {
  return {
    id: wallet.id,
    userId: wallet.userId,
    address: wallet.address,
    chainType: 'ethereum',
    chains: chains.map(({ name }) => name),
    metadata: wallet.metadata,
    createdAt: wallet.createdAt.toISOString(),
  }
}

function userIdTaken(): ServiceError {
  const message = 'This userId already has a wallet with other metadata. Use another userId.'
  return invalidRequest('userId', message, 'user_id_taken')
}
