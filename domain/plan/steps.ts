import { assetText } from '../money.js'
import type { BridgeStep, DepositStep, PlanStep, SwapStep, WithdrawStep } from '../intent/intent.js'
import type { PositionState } from './market.js'
import type { Swap } from './swap.js'
import type { Transfer } from './transfer.js'
import type { Rate } from '../yields.js'

type Unnumbered<Kind> = Kind extends PlanStep ? Omit<Kind, 'sequence'> : never

/** Numbers steps from 1 in the order of their execution. */
export function numbered(steps: Unnumbered<PlanStep>[]): PlanStep[] {
  return steps.map((step, index) => ({ sequence: index + 1, ...step }))
}

export function depositStep(rate: Rate, units: bigint): Unnumbered<DepositStep> {
  const { chain, protocol, market, asset } = rate
  return { type: 'deposit', chain, protocol, market, asset, amount: assetText(units) }
}

export function withdrawStep(
  { chain, protocol, market, asset }: PositionState,
  units: bigint,
  isEverything: boolean,
): Unnumbered<WithdrawStep> {
  const amount = assetText(units)
  const all = isEverything ? { everything: true as const } : {}
  return { type: 'withdraw', chain, protocol, market, asset, amount, ...all }
}

export function bridgeStep(
  asset: string,
  { route: { protocol, from, to, speed }, amountUnits, maxFeeUnits, arrivesUnits }: Transfer,
): Unnumbered<BridgeStep> {
  return {
    type: 'bridge',
    from,
    to,
    protocol,
    speed,
    asset,
    amount: assetText(amountUnits),
    maxFee: assetText(maxFeeUnits),
    arrives: assetText(arrivesUnits),
  }
}

export function swapStep({
  quote,
  amountUnits,
  arrivesUnits,
  minimumUnits,
}: Swap): Unnumbered<SwapStep> {
  const { chain, protocol, from, to } = quote
  return {
    type: 'swap',
    chain,
    protocol,
    asset: from,
    toAsset: to,
    amount: assetText(amountUnits),
    arrives: assetText(arrivesUnits),
    minimum: assetText(minimumUnits),
  }
}
