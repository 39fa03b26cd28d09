import { ServiceError } from './errors.js'
import { fromUnits } from './money.js'
import { bestRate, type Rate } from './yields.js'
import type { ExecutionPlan, IntentRequest } from './intent.js'

/** What a chain offers at the moment of planning. */
export type ChainState = {
  chain: string
  /** Base units the wallet can spend: its balance less what other intents have reserved. */
  availableUnits: bigint
  /** Cost of one deposit, USD. */
  depositGasUsd: number
  /** What a step takes there, seconds. */
  stepSeconds: [lower: number, upper: number]
}

export type MarketState = { decimals: number; chains: ChainState[]; rates: Rate[] }

/**
 * Decides where the money goes: on the named chain, else on the best paying chain that holds enough.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS with `required`, `available` (the most on one chain that
 *   comes into question) and `funds` (what lies where), all decimal text; INVALID_REQUEST when no chain
 *   that comes into question has a market for the asset.
 */
export function planIntent(request: IntentRequest, state: MarketState): ExecutionPlan {
  const offers = state.rates.filter((rate) => !request.chain || rate.chain === request.chain)
  if (offers.length === 0) throw noMarket(request)

  const rich = state.chains.filter((chain) => chain.availableUnits >= request.amountUnits)
  const rate = bestRate(offers.filter((offer) => rich.some((chain) => chain.chain === offer.chain)))
  const chain = rich.find((candidate) => candidate.chain === rate?.chain)
  if (!rate || !chain) throw tooLittle(request, state, offers)

  const amount = fromUnits(request.amountUnits, state.decimals)
  const { asset } = request
  const { protocol, market, apyPercent } = rate
  return {
    strategy: 'direct-deposit',
    targetChain: rate.chain,
    targetProtocol: protocol,
    expectedApy: apyPercent,
    steps: [{ type: 'deposit', sequence: 1, chain: rate.chain, protocol, market, asset, amount }],
    estimatedGasUsd: chain.depositGasUsd,
    estimatedTime: `${chain.stepSeconds[0]}-${chain.stepSeconds[1]} seconds`,
    reasoning: explain(request, rate, offers, rich),
  }
}

function explain(request: IntentRequest, rate: Rate, offers: Rate[], rich: ChainState[]): string {
  const pays = `${rate.protocol} on ${rate.chain} pays ${rate.apyPercent.toFixed(2)} % on ${rate.asset}`
  if (request.chain) return `${pays}; the request names this chain.`
  const better = offers.filter((offer) => offer.apyPercent > rate.apyPercent)
  const unfunded = better.filter((offer) => !rich.some((chain) => chain.chain === offer.chain))
  if (unfunded.length === 0) return `${pays}, the best rate of ${offers.length}.`
  const named = unfunded.map((offer) => `${offer.chain} (${offer.apyPercent.toFixed(2)} %)`)
  return `${pays}, the best rate where the wallet has the money; ${named.join(', ')} pays more.`
}

function noMarket({ asset, chain }: IntentRequest): ServiceError {
  const where = chain ?? 'any chain'
  return new ServiceError('INVALID_REQUEST', `There is no market for ${asset} on ${where}.`, {
    issues: [{ path: 'chain', message: `no market for ${asset} on ${where}` }],
  })
}

function tooLittle(
  request: IntentRequest,
  { chains, decimals }: MarketState,
  offers: Rate[],
): ServiceError {
  // Money on a chain without a market for it is shown in `funds`, but not available to the request.
  const counted = chains.filter(({ chain }) => offers.some((offer) => offer.chain === chain))
  const most = counted.reduce((max, c) => (c.availableUnits > max ? c.availableUnits : max), 0n)
  const required = fromUnits(request.amountUnits, decimals)
  const available = fromUnits(most, decimals)
  const where = request.chain ? ` on ${request.chain}` : ' on one chain'
  const message = `The intent needs ${required} ${request.asset}${where}, ${available} is available.`
  const funds = chains.map(({ chain, availableUnits }) => ({
    chain,
    asset: request.asset,
    amount: fromUnits(availableUnits, decimals),
  }))
  return new ServiceError('INSUFFICIENT_FUNDS', message, { required, available, funds })
}
