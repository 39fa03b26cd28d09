import type { Api } from '../http/api.js'
import type { List, PageParams } from '../http/pages.js'
import type { CallOptions, WriteOptions } from '../http/send.js'
import type { Metadata } from '../metadata.js'

/** A wallet of one end user, with the same address on every chain. */
export type Wallet = {
  id: string
  userId: string
  address: string
  chainType: string
  chains: string[]
  metadata: Metadata
  createdAt: string
}

/** `userId`: your own identifier of the end user. Each user has one wallet. */
export type CreateWalletParams = { userId: string; metadata?: Metadata | undefined }
export type ListWalletsParams = PageParams & { userId?: string | undefined }

export const createWallets = ({ get, post, list }: Api) => ({
  /** Creates the wallet of a user, or returns the existing one with the same metadata. */
  create: (params: CreateWalletParams, options?: WriteOptions): Promise<Wallet> =>
    post('/v1/wallets', params, options),

  /** @throws {WalletNotFoundError} */
  get: (userId: string, options?: CallOptions): Promise<Wallet> =>
    get(`/v1/wallets/${encodeURIComponent(userId)}`, {}, options),

  /** Newest first. */
  list: (params: ListWalletsParams = {}, options?: CallOptions): List<Wallet> =>
    list('/v1/wallets', params, options),
})
