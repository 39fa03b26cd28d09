import type { Intent } from './intents.js'
import type { IntentRequest } from '../../domain/intent.js'

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
export function requestOf(intent: Intent): IntentRequest {
  const { action, asset, units, fromChain, everything, netOverDays } = intent
  const amountUnits = BigInt(units)
  const chain = intent.chain ?? undefined
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
