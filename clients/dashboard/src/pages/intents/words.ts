import type { Intent } from '../../api/types.js'
import { chainText } from '../../text/names.js'
import type { StateName } from '../../ui/feedback/State.js'

/** The state of an intent and its label. A cancelled intent differs from a failed one. */
export function faceOf({ status, error, delay }: Intent): { state: StateName; word: string } {
  switch (status) {
    case 'completed':
      return { state: 'done', word: 'Completed' }
    case 'failed':
      return error?.code === 'CANCELLED'
        ? { state: 'stopped', word: 'Cancelled' }
        : { state: 'failed', word: 'Failed' }
    case 'executing':
      return delay ? { state: 'waiting', word: 'Late' } : { state: 'running', word: 'Executing' }
    case 'planning':
      return { state: 'running', word: 'Planning' }
    case 'pending':
      return { state: 'waiting', word: 'Pending' }
  }
}

const verbs: Record<Intent['action'], string> = {
  lend: 'Lend',
  withdraw: 'Withdraw',
  bridge: 'Bridge',
}

export const verbOf = ({ action }: Pick<Intent, 'action'>) => verbs[action]

/** Destination or route, when known: `Base Sepolia`, or `Arbitrum Sepolia → Base Sepolia`. */
export function routeOf(intent: Intent): string {
  const { fromChain, toChain, chain, executionPlan } = intent
  if (fromChain && toChain) return `${chainText(fromChain)} → ${chainText(toChain)}`
  const target = executionPlan?.targetChain ?? chain
  return target ? chainText(target) : ''
}
