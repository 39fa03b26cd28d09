import { planBridge } from './planBridge.js'
import { planLend } from './planLend.js'
import { planWithdraw } from './planWithdraw.js'
import type { StepPlan, IntentRequest } from '../intent/intent.js'
import type { MarketState } from './market.js'

/**
 * Plans the steps of a request for the given state.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS or INVALID_REQUEST, as documented at `planLend`, `planWithdraw` and
 *   `planBridge`.
 */
export function planIntent(request: IntentRequest, state: MarketState): StepPlan {
  switch (request.action) {
    case 'lend':
      return planLend(request, state)
    case 'withdraw':
      return planWithdraw(request, state)
    case 'bridge':
      return planBridge(request, state)
  }
}
