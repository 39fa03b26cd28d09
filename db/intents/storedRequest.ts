import type { Action, IntentRequest } from '../../domain/intent.js'

/** A request as the row of its intent has it. */
export type StoredRequest = {
  action: Action
  asset: string
  /** Base units asked for; of everything, what it was worth when it was planned. */
  units: string
  /** The chain named by the caller; of a bridge, where it leads to. */
  chain: string | null
  fromChain: string | null
  everything: boolean
  netOverDays: number | null
}

type Wishes = {
  chain: string | null
  fromChain: string | null
  everything: boolean
  days: number | null
}

/** What a request asks for beside its amount, as it is stored. */
export function wishesOf(request: IntentRequest): Wishes {
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

/** What a stored intent asks for. */
export function requestOf(stored: StoredRequest): IntentRequest {
  const { action, asset, units, fromChain, everything, netOverDays } = stored
  const amountUnits = BigInt(units)
  const chain = stored.chain ?? undefined
  switch (action) {
    case 'lend': {
      const wishes = { ...(chain && { chain }), ...(netOverDays && { netOverDays }) }
      return { action, asset, amountUnits, ...wishes }
    }
    case 'withdraw':
      return { action, asset, amountUnits: everything ? 'max' : amountUnits, chain: chain ?? '' }
    case 'bridge':
      return { action, asset, amountUnits, fromChain: fromChain ?? '', toChain: chain ?? '' }
  }
}
