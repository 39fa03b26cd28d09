import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { ServiceError } from '../../../domain/errors.js'
import { largest, smallest } from '../../../domain/money.js'
import { planIntent } from '../../../domain/plan/planIntent.js'
import { anyBridge, anyLend, anyNetLend, anyWithdraw, type Case } from './anyMarket.js'
import { holds } from './holds.js'
import { units } from './markets.js'
import { assertSound, deposited, gasMicroUsd, delivered } from './planChecks.js'
import { canBridge, canWithdraw, netOf, waysOf, withdrawable, worthOf } from './planOracle.js'
import type { LendRequest, StepPlan, WithdrawRequest } from '../../../domain/intent/intent.js'
import type { MarketState, PositionState } from '../../../domain/plan/market.js'

/** Rejected cases prove nothing, so at least this share must be planned. */
const planned = { lend: 0.6, netLend: 0.6, withdraw: 0.3, bridge: 0.15 }

type Runs = { runs: number; atLeast: number }

/** Plans each case or verifies its error, and checks the promises of every plan. */
function holdsForPlans<Request extends Case['request']>(
  { runs, atLeast }: Runs,
  cases: fc.Arbitrary<Case<Request>>,
  isPossible: (request: Request, state: MarketState) => boolean,
  check: (plan: StepPlan, request: Request, state: MarketState) => void,
): void {
  let count = 0
  const property = fc.property(cases, ({ request, state }) => {
    const plan = planOrError(request, state)
    expect(!(plan instanceof ServiceError)).toBe(isPossible(request, state))
    if (plan instanceof ServiceError) return
    count += 1
    assertSound(plan, request, state)
    check(plan, request, state)
  })
  holds(property, runs)
  expect(count).toBeGreaterThanOrEqual(atLeast * runs)
}

function planOrError(request: Case['request'], state: MarketState): StepPlan | ServiceError {
  try {
    return planIntent(request, state)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    assertActionable(error)
    return error
  }
}

/** An error states what is missing, or what to change. */
function assertActionable({ code, details }: ServiceError): void {
  expect(['INSUFFICIENT_FUNDS', 'INVALID_REQUEST']).toContain(code)
  if (code === 'INVALID_REQUEST') expect(details.issues ?? details.reason).toBeDefined()
  else {
    const { required, available } = details as { required: string; available: string }
    if (required !== 'max') expect(units(available)).toBeLessThan(units(required))
  }
}

const canLend = (request: LendRequest, state: MarketState) => waysOf(request, state).length > 0

/** What bridge and swap take. A surplus of a swap is no gain. */
const lossOf = ({ steps }: StepPlan) =>
  steps.reduce((sum, step) => {
    if (step.type !== 'bridge' && step.type !== 'swap') return sum
    return sum + largest(units(step.amount) - units(step.arrives), 0n)
  }, 0n)

/** The cost of a lend plan in base units, and its rate. */
const outcomeOf = (plan: StepPlan) => ({
  apyPercent: plan.expectedApy ?? NaN,
  depositUnits: deposited(plan),
  costUnits: lossOf(plan) + gasMicroUsd(plan),
})

/** Four properties, each with the given number of runs. */
export function describePlans(runs: number): void {
  describe('planIntent, for any market', () => {
    test('lend: goes to the highest reachable APY, at the lowest cost', () => {
      holdsForPlans({ runs, atLeast: planned.lend }, anyLend, canLend, (plan, request, state) => {
        const { apyPercent, costUnits } = outcomeOf(plan)
        const better = waysOf(request, state).filter(
          ({ rate, ...way }) =>
            rate.apyPercent > apyPercent ||
            (rate.apyPercent === apyPercent && way.costUnits < costUnits),
        )
        expect(better).toEqual([])
        if (request.chain) expect(plan.targetChain).toBe(request.chain)
      })
    })

    test('lend with netOverDays: no reachable market is worth more', () => {
      holdsForPlans(
        { runs, atLeast: planned.netLend },
        anyNetLend,
        canLend,
        (plan, request, state) => {
          const outcome = outcomeOf(plan)
          const net = netOf(outcome, request.netOverDays)
          const better = waysOf(request, state).filter((way) => {
            const other = netOf({ ...way, apyPercent: way.rate.apyPercent }, request.netOverDays)
            return other > net || (other === net && way.costUnits < outcome.costUnits)
          })
          expect(better).toEqual([])
          if (request.chain) expect(plan.targetChain).toBe(request.chain)
        },
      )
    })

    test('withdraw: delivers the requested amount, hardly more, and never more than exists', () => {
      holdsForPlans(
        { runs, atLeast: planned.withdraw },
        anyWithdraw,
        canWithdraw,
        (plan, request, state) => {
          const touched = withdrawable(request, state)
          const worth = (one: PositionState) =>
            worthOf(state, one, request.asset, one.availableUnits)
          const total = touched.reduce((sum, one) => sum + worth(one), 0n)
          const output = delivered(plan, request.asset)
          expect(output).toBeLessThanOrEqual(total)
          if (request.amountUnits === 'max') expect(output).toBe(total)
          else expect(output).toBeGreaterThanOrEqual(smallest(request.amountUnits, total))
          assertHardlyMore(plan, request, output, total, touched)
        },
      )
    })

    test('bridge: moves the amount for the fee of the route', () => {
      holdsForPlans(
        { runs, atLeast: planned.bridge },
        anyBridge,
        canBridge,
        (plan, { amountUnits, fromChain, toChain }) => {
          expect(plan.steps).toMatchObject([{ type: 'bridge', from: fromChain, to: toChain }])
          expect(units(plan.steps[0]?.amount ?? '')).toBe(amountUnits)
        },
      )
    })
  })
}

/** More than the requested amount is withdrawn only where dust would remain, or a swap's price rounds. */
function assertHardlyMore(
  plan: StepPlan,
  { amountUnits }: WithdrawRequest,
  output: bigint,
  total: bigint,
  touched: PositionState[],
): void {
  if (amountUnits === 'max') return
  const dust = (whole: bigint) => smallest(10n, whole / 1_000n)
  const emptied = plan.steps.filter((step) => step.type === 'withdraw' && step.everything)
  const dustUnits = emptied.reduce((sum, step) => {
    const position = touched.find((one) => 'market' in step && one.market === step.market)
    // A unit of another asset is worth at most two.
    return sum + 2n * dust(position?.availableUnits ?? 0n) + 2n
  }, 0n)
  const most =
    output === total && total - amountUnits <= dust(total) ? total : amountUnits + dustUnits
  expect(output).toBeLessThanOrEqual(emptied.length > 0 ? most : amountUnits + 1n)
}
