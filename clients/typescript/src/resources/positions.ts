import type { Api } from '../http/api.js'
import type { CallOptions } from '../http/send.js'

/** A position of a wallet in one protocol on one chain. Amounts are whole tokens as decimal text. */
export type Position = {
  chain: string
  alias: string
  protocol: string
  asset: string
  deposited: string
  withdrawn: string
  currentValue: string
  /** Negative after a loss. */
  earned: string
  apy: number
  /** Everything was withdrawn. */
  closed?: true
}

export type Positions = {
  walletId: string
  address: string
  positions: Position[]
  /** Chains without an answer. */
  unavailable?: string[]
}

/** `closed`: include closed positions. */
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
