import { expect } from 'vitest'
import { units } from './markets.js'
import { feeOf, gasOf, swapped } from './planOracle.js'
import type { StepPlan, IntentRequest, PlanStep } from '../../../domain/intent/intent.js'
import type { GasKind, MarketState } from '../../../domain/plan/market.js'

/** The output of a step and its chain. A deposit has none, a withdrawal what it withdraws. */
const handedOn = (step: PlanStep) => {
  switch (step.type) {
    case 'bridge':
      return { chain: step.to, asset: step.asset, amount: step.arrives }
    case 'swap':
      return { chain: step.chain, asset: step.toAsset, amount: step.arrives }
    case 'withdraw':
      return { chain: step.chain, asset: step.asset, amount: step.amount }
    case 'deposit':
      return undefined
  }
}

/** Promises of every plan: what it spends, how its steps connect, and what is lost on the way. */
export function assertSound(plan: StepPlan, request: IntentRequest, state: MarketState): void {
  expect(plan.steps.map(({ sequence }) => sequence)).toEqual(plan.steps.map((_, i) => i + 1))
  plan.steps.forEach((step, index) => {
    assertConserving(step, state)
    const before = plan.steps[index - 1]
    if (step.type === 'withdraw') assertCovered(step, state)
    else if (before) expect(step).toMatchObject({ ...fed(step, before) })
    else assertFunded(step, request, state)
  })
  assertComplete(plan, request)
  expect(gasMicroUsd(plan)).toBe(gasNeeded(plan, state))
  expect(plan.estimatedTime).toMatch(/^\d+-\d+ (seconds|minutes)$/)
}

/** The properties of a step that spends the output of the previous one. */
function fed(step: PlanStep, before: PlanStep) {
  const { chain, asset, amount } = handedOn(before) ?? {}
  return step.type === 'bridge' ? { from: chain, asset, amount } : { chain, asset, amount }
}

/** The first step spends the requested amount, from the balance of its chain. */
function assertFunded(step: PlanStep, request: IntentRequest, { chains }: MarketState): void {
  const where = step.type === 'bridge' ? step.from : step.chain
  const amount = units(step.amount)
  expect(amount).toBe(request.amountUnits)
  expect(step.asset).toBe(request.asset)
  const funded = chains.find(({ chain }) => chain === where)
  expect(funded?.availableUnits).toBeGreaterThanOrEqual(amount)
}

function assertCovered(step: PlanStep & { type: 'withdraw' }, { positions }: MarketState): void {
  const { chain, protocol, market, asset } = step
  const position = positions.find((one) => one.chain === chain && one.market === market)
  const amount = units(step.amount)
  expect(position).toMatchObject({ protocol, asset })
  expect(position?.availableUnits).toBeGreaterThanOrEqual(amount)
  expect(position?.liquidityUnits).toBeGreaterThanOrEqual(amount)
  if (!step.everything) return
  expect(position).toMatchObject({ isBusy: false, availableUnits: amount })
}

/** Losses are only the fee of a route that can move the amount, and the price of a pool. */
function assertConserving(step: PlanStep, state: MarketState): void {
  const amount = units(step.amount)
  expect(amount).toBeGreaterThan(0n)
  if (step.type === 'bridge') {
    const [fee, maxFee] = [amount - units(step.arrives), units(step.maxFee)]
    const fees = state.routes
      .filter(({ from, to, speed }) => from === step.from && to === step.to && speed === step.speed)
      .filter(({ maxUnits }) => maxUnits >= amount)
      .map((route) => feeOf(route, amount))
    expect(fees).toContain(fee)
    expect(maxFee).toBeGreaterThanOrEqual(fee)
    expect(maxFee).toBeLessThan(amount)
    expect((maxFee - 1n) * 500n).toBeLessThan(amount)
    if (fee === 0n) expect(maxFee).toBe(0n)
  }
  if (step.type === 'swap') {
    const [arrives, minimum] = [units(step.arrives), units(step.minimum)]
    expect(arrives).toBe(swapped(state, step.chain, step.asset, step.toAsset, amount))
    expect(minimum * 1_000n).toBeGreaterThanOrEqual(arrives * 995n)
    expect(minimum * 100n).toBeGreaterThanOrEqual(amount * 99n)
    const isLess = (minimum - 1n) * 1_000n < arrives * 995n || (minimum - 1n) * 100n < amount * 99n
    expect(isLess).toBe(true)
  }
}

/** Steps are in a valid order, and withdraw from each market at most once. */
function assertComplete(plan: StepPlan, request: IntentRequest): void {
  const kinds = plan.steps.map(({ type }) => type).join(' ')
  const shape = {
    lend: plan.strategy === 'single-bridge' ? /^bridge (swap )?deposit$/ : /^(swap )?deposit$/,
    withdraw: /^withdraw( withdraw| swap)*$/,
    bridge: /^bridge$/,
  }
  expect(kinds).toMatch(shape[request.action])
  const withdrawals = plan.steps.filter((step) => step.type === 'withdraw')
  expect(new Set(withdrawals.map(({ market }) => market)).size).toBe(withdrawals.length)
  plan.steps.forEach((step, index) => {
    if (step.type !== 'withdraw' || step.asset === request.asset) return
    expect(plan.steps[index + 1]).toMatchObject({ type: 'swap', toAsset: request.asset })
  })
}

export const gasMicroUsd = (plan: StepPlan) =>
  BigInt(Math.round((plan.estimatedGasUsd ?? NaN) * 1e6))

const kindOf = (step: PlanStep): GasKind[] => (step.type === 'bridge' ? ['burn'] : [step.type])

function gasNeeded({ steps }: StepPlan, state: MarketState): bigint {
  return steps.reduce((sum, step) => {
    const where = step.type === 'bridge' ? step.from : step.chain
    const minted = step.type === 'bridge' ? gasOf(state, step.to, 'mint') : 0n
    return sum + gasOf(state, where, ...kindOf(step)) + minted
  }, 0n)
}

/** Base units that the last step of a plan to lend deposits. */
export function deposited({ steps }: StepPlan): bigint {
  const last = steps.at(-1)
  return last?.type === 'deposit' ? units(last.amount) : 0n
}

/** Base units of the asset that a withdrawal plan delivers to the wallet. */
export function delivered({ steps }: StepPlan, asset: string): bigint {
  return steps.reduce((sum, step) => {
    const output = handedOn(step)
    return output?.asset === asset ? sum + units(output.amount) : sum
  }, 0n)
}
