import type { Api } from '../http/api.js'
import type { CallOptions } from '../http/send.js'

/** What a wallet has lent to one protocol on one chain, in whole tokens as decimal text. */
export type Position = {
  chain: string
  protocol: string
  asset: string
  deposited: string
  withdrawn: string
  currentValue: string
  /** Negative after a loss. */
  earned: string
  apy: number
  /** Everything was taken out. */
  closed?: true
}

export type Positions = {
  walletId: string
  address: string
  positions: Position[]
  /** Chains that do not answer now. */
  unavailable?: string[]
}

/** `closed`: those too that were emptied. */
export type PositionParams = { closed?: boolean | undefined }

export const createPositions = ({ get }: Api) => ({
  /** @throws {WalletNotFoundError} */
  get: (
    walletId: string,
    { closed }: PositionParams = {},
    options?: CallOptions,
  ): Promise<Positions> =>
    get(`/v1/positions/${encodeURIComponent(walletId)}`, { closed }, options),
})
