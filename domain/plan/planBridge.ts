import { timeText } from './effort.js'
import { invalidRequest, type ServiceError } from '../errors.js'
import { insufficientFunds } from './insufficientFunds.js'
import { assetText } from '../money.js'
import { bridgeStep, numbered } from './steps.js'
import { findTransfer, refusalOf, type TransferRefusal } from './transfer.js'
import { costWarnings, warningsField } from './warnings.js'
import type { BridgeRequest, StepPlan } from '../intent/intent.js'
import type { MarketState } from './market.js'

/**
 * Plans a bridge transfer from one chain to another.
 *
 * @throws {ServiceError} INVALID_REQUEST with the reason `no_route`, `above_maximum`, `above_fee_limit` or
 *   `below_fee` when no route can move the amount. INSUFFICIENT_FUNDS as documented at `insufficientFunds`.
 */
export function planBridge(request: BridgeRequest, state: MarketState): StepPlan {
  const { asset, amountUnits, fromChain, toChain } = request
  const move = { asset, amountUnits, from: fromChain, to: toChain }
  const transfer = findTransfer(state, move)
  if (!transfer) throw refused(refusalOf(state, move))
  const source = state.chains.filter(({ chain }) => chain === fromChain)
  if (source.every(({ availableUnits }) => availableUnits < amountUnits)) {
    throw insufficientFunds(request, state, source)
  }
  const { feeUnits, arrivesUnits, effort, route } = transfer
  const fee = assetText(feeUnits)
  const arrives = assetText(arrivesUnits)
  return {
    strategy: 'direct-bridge',
    targetChain: toChain,
    steps: numbered([bridgeStep(asset, transfer)]),
    estimatedGasUsd: effort.gasUsd,
    estimatedTime: timeText(effort),
    ...warningsField(costWarnings(effort, state)),
    reasoning:
      `A ${route.speed} transfer from ${fromChain} to ${toChain} for a bridge fee of ${fee} ${asset}; ` +
      `${arrives} ${asset} arrive.`,
  }
}

function refused({ reason, clause }: TransferRefusal): ServiceError {
  const path = reason === 'no_route' ? 'toChain' : 'amount'
  return invalidRequest(path, `The amount cannot be bridged: ${clause}.`, reason)
}
