import { effortOf, sumEfforts, timeText } from './effort.js'
import { ServiceError, invalidRequest } from '../errors.js'
import { assetText } from '../money.js'
import {
  canBeEmptied,
  dustOf,
  findSources,
  takeAll,
  takePart,
  type Choice,
  type Source,
  type Taking,
} from './sources.js'
import { numbered, swapStep, withdrawStep } from './steps.js'
import { findQuote, slippageOf, swapOf, whyNoQuote, type Swap } from './swap.js'
import { costWarnings, swapWarnings, warningsField } from './warnings.js'
import type { StepPlan, LocatedFunds, WithdrawRequest } from '../intent/intent.js'
import { limitsOf, type MarketState } from './market.js'

/**
 * Withdraws from the markets of a chain, after swapping `unswapped` money: from one market if one has enough, else from
 * the largest first. An amount that differs from everything by rounding dust only withdraws everything, where possible.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS with `required`, `available` and `funds` (all positions), all decimal text,
 *   and the reason `no_liquidity` when the markets do not have the cash now. INVALID_REQUEST with the reason
 *   `market_busy` when it would withdraw everything from a market from which another intent is withdrawing.
 */
export function planWithdraw(request: WithdrawRequest, state: MarketState): StepPlan {
  const chain = state.chains.find((one) => one.chain === request.chain)
  const swap = chain && swapBefore(request, state)
  const rest = swap ? remainderAfter(request, swap) : request
  const sources = chain ? findSources(request, state) : []
  const choice = rest ? choose(rest, state, sources) : nothingMore
  const [first] = choice.takings
  if (!chain || (!first && !swap)) throw nothingThere(request, state)
  const effort = sumEfforts([
    ...(swap ? [effortOf(chain, 'swap')] : []),
    ...choice.takings.flatMap(({ source }) => [
      effortOf(chain, 'withdraw'),
      ...(source.quote ? [effortOf(chain, 'swap')] : []),
    ]),
  ])
  const steps = numbered([
    ...(swap ? [swapStep(swap)] : []),
    ...choice.takings.flatMap((taking) => stepsOf(taking, state)),
  ])
  return {
    strategy: 'direct-withdraw',
    targetChain: request.chain,
    ...(first ? { targetProtocol: first.source.position.protocol } : {}),
    steps,
    estimatedGasUsd: effort.gasUsd,
    estimatedTime: timeText(effort),
    reasoning: explain(request, choice),
    ...warningsField([...costWarnings(effort, state), ...swapWarnings(steps)]),
  }
}

const nothingMore: Choice = { takings: [], why: '' }

/** The swap of money that was withdrawn earlier. */
function swapBefore(
  { asset, chain, unswapped }: WithdrawRequest,
  state: MarketState,
): Swap | undefined {
  if (!unswapped) return undefined
  const pair = { chain, from: unswapped.asset, to: asset }
  const quote = findQuote(state, pair)
  if (quote) return swapOf(quote, unswapped.units, limitsOf(state))
  const message = `Nothing is swapped on ${chain} now: ${whyNoQuote(state, pair)}.`
  throw invalidRequest('intentId', message, 'no_swap')
}

/** The remaining withdrawal from markets. Undefined when the swap covers the amount within its slippage. */
function remainderAfter(
  request: WithdrawRequest,
  { arrivesUnits }: Swap,
): WithdrawRequest | undefined {
  const { amountUnits } = request
  if (amountUnits === 'max') return request
  const left = amountUnits - arrivesUnits
  return left > slippageOf(amountUnits) ? { ...request, amountUnits: left } : undefined
}

/** Takes from no market when everything is requested and there is no position. */
function choose(request: WithdrawRequest, state: MarketState, sources: Source[]): Choice {
  const { amountUnits } = request
  const positions = sources.filter(({ worthUnits }) => worthUnits > 0n)
  const totalUnits = positions.reduce((sum, source) => sum + source.worthUnits, 0n)
  const payableUnits = positions.reduce((sum, source) => sum + source.payableUnits, 0n)
  if (amountUnits === 'max') {
    // Also without a position: money that another intent withdraws may come back.
    const busy = sources.find(({ position }) => position.isBusy)
    if (busy) throw marketBusy(busy)
    if (positions.every(canBeEmptied)) return takeAll(positions)
    throw noLiquidity(request, state, { requiredUnits: totalUnits, payableUnits })
  }
  if (totalUnits === 0n || amountUnits - totalUnits > dustOf(amountUnits)) {
    throw tooLittle(request, state, { requiredUnits: amountUnits, totalUnits })
  }
  const isNearly = totalUnits - amountUnits <= dustOf(amountUnits)
  if (isNearly && positions.every(canBeEmptied)) return takeAll(positions)
  if (amountUnits <= payableUnits) return takePart(amountUnits, positions)
  const busy = positions.find(({ position }) => position.isBusy)
  if (busy && payableUnits === totalUnits) throw marketBusy(busy)
  throw noLiquidity(request, state, { requiredUnits: amountUnits, payableUnits })
}

function stepsOf({ source: { position, quote }, units, isEverything }: Taking, state: MarketState) {
  const withdraw = withdrawStep(position, units, isEverything)
  return quote ? [withdraw, swapStep(swapOf(quote, units, limitsOf(state)))] : [withdraw]
}

function explain({ asset, unswapped }: WithdrawRequest, { takings, why }: Choice): string {
  const names = takings.map(({ source }) => nameOf(source)).join(', ')
  const before = unswapped ? [`${unswapped.asset} in the wallet is swapped to ${asset}.`] : []
  const swaps = takings
    .filter(({ source }) => source.quote)
    .map(({ source }) => `${source.position.asset} is swapped to ${asset}.`)
  return [...before, ...(names ? [`From ${names}: ${why}.`] : []), ...swaps].join(' ')
}

const nameOf = ({ position: { protocol, chain } }: Source) => `${protocol} on ${chain}`

function marketBusy(source: Source): ServiceError {
  const message =
    `Another intent is withdrawing from ${nameOf(source)}. ` +
    'Try again when it has ended, or request less.'
  return invalidRequest('chain', message, 'market_busy')
}

function noLiquidity(
  { asset, chain }: WithdrawRequest,
  state: MarketState,
  { requiredUnits, payableUnits }: { requiredUnits: bigint; payableUnits: bigint },
): ServiceError {
  const available = assetText(payableUnits)
  const message = `The markets on ${chain} can pay out at most ${available} ${asset} now.`
  const required = assetText(requiredUnits)
  const funds = lentFunds(state)
  const details = { reason: 'no_liquidity' as const, required, available, funds }
  return new ServiceError('INSUFFICIENT_FUNDS', message, details)
}

function tooLittle(
  { asset, chain }: WithdrawRequest,
  state: MarketState,
  { requiredUnits, totalUnits }: { requiredUnits: bigint; totalUnits: bigint },
): ServiceError {
  const required = assetText(requiredUnits)
  const available = assetText(totalUnits)
  const message = [
    `The intent needs ${required} ${asset} lent on ${chain}. ${available} is available.`,
    ...explainUnswapped({ asset, chain }, state),
  ].join(' ')
  const details = { required, available, funds: lentFunds(state) }
  return new ServiceError('INSUFFICIENT_FUNDS', message, details)
}

function nothingThere(request: WithdrawRequest, state: MarketState): ServiceError {
  const { chain } = request
  const details = { required: 'max', available: '0', funds: lentFunds(state) }
  const unswapped = explainUnswapped(request, state)
  const message = [`There is nothing to withdraw on ${chain}.`, ...unswapped].join(' ')
  return new ServiceError('INSUFFICIENT_FUNDS', message, details)
}

/** Positions on the chain in another asset, which do not count because they cannot be swapped at a fair price. */
function explainUnswapped(
  { asset, chain }: Pick<WithdrawRequest, 'asset' | 'chain'>,
  state: MarketState,
): string[] {
  return state.positions
    .filter((position) => position.chain === chain && position.asset !== asset)
    .map((position) => ({ position, pair: { chain, from: position.asset, to: asset } }))
    .filter(({ pair }) => !findQuote(state, pair))
    .map(({ position, pair }) => {
      const amount = `${assetText(position.availableUnits)} ${position.asset}`
      return `${amount} in ${position.protocol} does not count: ${whyNoQuote(state, pair)}.`
    })
}

/** Positions on all chains. */
function lentFunds({ positions }: MarketState): LocatedFunds[] {
  return positions.map(({ chain, protocol, asset, availableUnits }) => ({
    chain,
    protocol,
    asset,
    amount: assetText(availableUnits),
  }))
}
