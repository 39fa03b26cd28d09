import type { Api } from '../http/api.js'
import type { List, PageParams } from '../http/pages.js'
import type { CallOptions } from '../http/send.js'

/** `apy` in percent per year. */
export type YieldRate = {
  chain: string
  /** Short name of the chain. */
  alias: string
  protocol: string
  asset: string
  apy: number
}

export type BestYield = {
  chain: string
  alias: string
  protocol?: string
  asset: string
  apy: number
  reasoning: string
}

export type DisabledMarket = {
  chain: string
  alias: string
  protocol: string
  asset?: string
  reason: string
}

export type Yields = {
  rates: YieldRate[]
  /** Null when no rate matches. */
  best: BestYield | null
  /** Chains without an answer. */
  unavailable?: string[]
  disabled?: DisabledMarket[]
}

/** The rate of a market at a time. */
export type YieldSnapshot = YieldRate & { takenAt: string }

export type YieldParams = {
  chain?: string | undefined
  asset?: string | undefined
  protocol?: string | undefined
}
export type YieldHistoryParams = YieldParams &
  PageParams & { from?: Date | string | undefined; to?: Date | string | undefined }

export const createYields = ({ get, list }: Api) => ({
  /** Current lending rates. */
  list: (params: YieldParams = {}, options?: CallOptions): Promise<Yields> =>
    get('/v1/yields', params, options),

  /** Past lending rates, newest first. */
  history: (params: YieldHistoryParams = {}, options?: CallOptions): List<YieldSnapshot> =>
    list('/v1/yields/history', params, options),
})
