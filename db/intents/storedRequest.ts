import type { IntentAction, IntentRequest } from '../../domain/intent/intent.js'

/** A request as stored in the row of its intent. */
export type StoredRequest = {
  action: IntentAction
  asset: string
  /** Requested base units. For a withdrawal of everything, the value at planning. */
  units: string
  /** The chain that the caller named. For a bridge, the destination. */
  chain: string | null
  fromChain: string | null
  everything: boolean
  netOverDays: number | null
}

type RequestColumns = {
  chain: string | null
  fromChain: string | null
  everything: boolean
  days: number | null
}

/** The stored columns of a request, besides its amount. */
export function toRequestColumns(request: IntentRequest): RequestColumns {
  const none = { chain: null, fromChain: null, everything: false, days: null }
  switch (request.action) {
    case 'lend':
      return { ...none, chain: request.chain ?? null, days: request.netOverDays ?? null }
    case 'withdraw':
      return { ...none, chain: request.chain, everything: request.amountUnits === 'max' }
    case 'bridge':
      return { ...none, chain: request.toChain, fromChain: request.fromChain }
  }
}

/** The request of a stored intent. */
export function requestOf(stored: StoredRequest): IntentRequest {
  const { action, asset, units, fromChain, everything, netOverDays } = stored
  const amountUnits = BigInt(units)
  const chain = stored.chain ?? undefined
  switch (action) {
    case 'lend': {
      const options = { ...(chain && { chain }), ...(netOverDays && { netOverDays }) }
      return { action, asset, amountUnits, ...options }
    }
    case 'withdraw':
      return { action, asset, amountUnits: everything ? 'max' : amountUnits, chain: chain ?? '' }
    case 'bridge':
      return { action, asset, amountUnits, fromChain: fromChain ?? '', toChain: chain ?? '' }
  }
}
