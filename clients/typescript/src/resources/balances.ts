import type { Api } from '../http/api.js'
import type { CallOptions } from '../http/send.js'

/** `balance` in base units, `balanceFormatted` in whole tokens. Both are exact. */
export type TokenBalance = {
  asset: string
  balance: string
  balanceFormatted: string
  decimals: number
  /** Null while the price of the token is unknown. */
  valueUsd: number | null
}

export type Balances = {
  walletId: string
  address: string
  /** `tokens` is empty on a chain without funds. */
  chains: { chain: string; alias: string; tokens: TokenBalance[] }[]
  /** Without what is lent. */
  totalValueUsd: number
  /** What the wallet has lent, with interest. Null while a chain, a market or a price cannot be read. */
  lentUsd: number | null
  /** Path of the positions. */
  positions: string
  /** Chains without an answer. */
  unavailable?: string[]
}

export const createBalances = ({ get }: Api) => ({
  /** @throws {WalletNotFoundError} */
  get: (walletId: string, options?: CallOptions): Promise<Balances> =>
    get(`/v1/balances/${encodeURIComponent(walletId)}`, {}, options),
})
