import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { createSealedAccount } from '../custody/seal.js'
import {
  findActiveKek,
  getWalletByUser,
  insertWallet,
  newWalletId,
  type Wallet,
} from '../db/wallets.js'
import { ServiceError } from '../domain/errors.js'
import { safeText } from '../domain/intent.js'
import { metadata } from './metadata.js'
import { noBody, noParams, route } from './route.js'
import type { Services } from './services.js'

const createWallet = route(
  {
    method: 'post',
    path: '/wallets',
    params: noParams,
    body: z.strictObject({ userId: safeText(128), metadata: metadata.default({}) }),
  },
  async ({ db, registry }, { account, body }) => {
    const kek = await findActiveKek(db)
    if (!kek) throw new ServiceError('UNAVAILABLE', 'The signer has not started yet. Try again.')
    const id = newWalletId()
    const accountId = account.id
    const { address, sealed } = await createSealedAccount(kek, () => ({
      purpose: 'wallet',
      owner: id,
      accountId,
    }))
    const wallet = { id, accountId, address, ...body }
    const created = await insertWallet(db, wallet, { kekId: kek.id, sealed })
    if (created) return { status: 201, body: walletBody(created, registry) }
    const existing = await getWalletByUser(db, accountId, body.userId)
    // As the database would give it back: -0 becomes 0.
    const sent: unknown = JSON.parse(JSON.stringify(body.metadata))
    if (!isDeepStrictEqual(existing.metadata, sent)) throw userIdTaken()
    return { status: 200, body: walletBody(existing, registry) }
  },
)

const readWallet = route(
  {
    method: 'get',
    path: '/wallets/:userId',
    params: z.object({ userId: safeText(128) }),
    body: noBody,
  },
  async ({ db, registry }, { account, params }) => {
    const wallet = await getWalletByUser(db, account.id, params.userId)
    return { status: 200, body: walletBody(wallet, registry) }
  },
)

export const walletRoutes = [createWallet, readWallet]

function walletBody(wallet: Wallet, { chains }: Services['registry']) {
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
  const message = 'This userId has a wallet with other metadata. Use another userId.'
  return new ServiceError('INVALID_REQUEST', message, {
    reason: 'user_id_taken',
    issues: [{ path: 'userId', message }],
  })
}
