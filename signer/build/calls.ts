import { assertAllowed, refusal, type Allowance } from '../../custody/policy.js'
import { readBalance } from '../../evm/read.js'
import { findPool, findToken, type Chain, type Token } from '../../evm/registry.js'
import { ServiceError } from '../../domain/errors.js'
import { sourceStepOf, spendingChain } from '../../domain/intent/intent.js'
import { defaultLimits, hasDrifted, mostOutput, type PriceLimits } from '../../domain/limits.js'
import { assetUnits, divideUp, largest } from '../../domain/money.js'
import { dustOf } from '../../domain/plan/sources.js'
import { matchesRequest, type Asked } from '../../domain/intent/spending.js'
import { bridgeOf } from '../../evm/bridges/bridges.js'
import { getMarket, lendingProtocol } from '../../evm/lending/markets.js'
import { encodeSwap, readQuote } from '../../evm/swaps/uniswapV3.js'
import { readPreviousOutput } from './previousOutput.js'
import { readShareFloor } from './shareFloor.js'
import type { Operation } from '../../operations/operations.js'
import type { SigningInput, PlannedRequest } from '../../operations/signing/orders.js'
import type { Held } from '../../domain/intent/waiting.js'
import type {
  BridgeStep,
  DepositStep,
  PlanStep,
  SwapStep,
  WithdrawStep,
} from '../../domain/intent/intent.js'
import type { Call } from '../../domain/intent/operation.js'
import type { SigningContext, SignerTools } from '../signingContext.js'

/** Calls of a wallet and the plan's allowance for them. `heldUnits`: position in a market that is withdrawn in full. */
type AllowedCalls = { calls: Call[]; allowance: Allowance; heldUnits?: bigint }

/** The chain state and limits that a step is built with. */
type BuildContext = Pick<SigningContext, 'client' | 'head'> &
  Pick<SignerTools, 'db' | 'registry'> & { operation: Operation; limits: PriceLimits }

/** `units`: base units that the step spends, no more and no less. */
type Spending = { wallet: string; units: bigint; asked: Asked }

/** `movedUnits`: base units in USD that this operation sets in motion; 0 when an earlier step has counted them. */
export type Rebuilt = { calls: Call[]; movedUnits: bigint }

/**
 * Builds the calls of an operation from its plan's step and the funds that have arrived for it. There is no free-form
 * call. Each call is checked against the plan, and the plan against the request. The amount is that of the plan, or the
 * output of a previous step as read from the chain. No row that another role writes holds it.
 *
 * @throws {ServiceError} INTERNAL when the plan has no such step or exceeds the request, or the policy rejects;
 *   SWAP_FAILED while a swap would return less than the plan's minimum, or its price has just moved; RPC_ERROR while
 *   the output of the previous step is not on the chain.
 */
export async function rebuildCalls(
  { db, registry, limits = defaultLimits }: Pick<SignerTools, 'db' | 'registry' | 'limits'>,
  context: SigningContext,
  { operation, order, wallet }: { operation: Operation; order: SigningInput; wallet: string },
): Promise<Rebuilt> {
  const { client, head } = context
  const { plan, step, asked } = getPlanned(operation, order)
  if (step.type !== operation.kind || spendingChain(step) !== client.chain.name) {
    throw refusal('the operation must be in the plan.')
  }
  if (!matchesRequest(asked, plan, limits)) {
    throw refusal('the plan must spend what the request of its intent names, no more and no less.')
  }
  const sourceStep = sourceStepOf(plan, step)
  const units = sourceStep
    ? await readPreviousOutput(db, context, { operation, sourceStep, wallet })
    : assetUnits(step.amount)
  const place = { db, operation, client, head, registry, limits }
  const rebuilt = await allowedCalls(place, step, { wallet, units, asked })
  const { calls, allowance, heldUnits = units } = rebuilt
  assertAllowed(calls, allowance)
  return { calls, movedUnits: sourceStep ? 0n : heldUnits }
}

/**
 * The plan of an operation, the step it belongs to, and the request of its intent.
 *
 * @throws {ServiceError} INTERNAL when the plan has no such step.
 */
export function getPlanned(
  { sequence }: Operation,
  { planned }: SigningInput,
): PlannedRequest & { step: PlanStep } {
  const step = planned?.plan.steps.find((candidate) => candidate.sequence === sequence)
  if (planned && step) return { ...planned, step }
  throw refusal('the operation must be in the plan.')
}

function allowedCalls(
  place: BuildContext,
  step: PlanStep,
  spending: Spending,
): Promise<AllowedCalls> {
  switch (step.type) {
    case 'deposit':
      return toDeposit(place, step, spending)
    case 'withdraw':
      return toWithdrawal(place, step, spending)
    case 'bridge':
      return Promise.resolve(toBurn(place, step, spending))
    case 'swap':
      return toSwap(place, step, spending)
  }
}

async function toDeposit(
  place: BuildContext,
  step: DepositStep,
  { wallet, units }: Spending,
): Promise<AllowedCalls> {
  const market = getMarket(place.client.chain, step.market)
  const { address: contract, underlying: token } = market
  const calls = lendingProtocol(market).encodeDeposit(market, wallet, units)
  const floor = await readShareFloor(place, market, { wallet, units })
  return {
    calls: [...calls, ...(floor ? [floor.call] : [])],
    allowance: {
      ...{ kind: 'deposit', wallet, token, contract, units },
      ...(floor ? { leastShares: floor.leastShares } : {}),
    },
  }
}

async function toWithdrawal(
  { client, head }: BuildContext,
  step: WithdrawStep,
  { wallet, units, asked }: Spending,
): Promise<AllowedCalls> {
  const market = getMarket(client.chain, step.market)
  const { address: contract, underlying: token, receiptToken } = market
  const protocol = lendingProtocol(market)
  const block = { blockNumber: head }
  const heldUnits = step.everything
    ? await protocol.readPosition(client, market, { wallet, block })
    : 0n
  const everything = step.everything === true && (asked.everything || isWhole(heldUnits, units))
  const held = { token: receiptToken, owner: wallet, block }
  const withdrawal = everything ? { receiptUnits: await readBalance(client, held) } : { units }
  return {
    calls: protocol.encodeWithdraw(market, wallet, withdrawal),
    allowance: { kind: 'withdraw', wallet, token, contract, units, everything },
    ...(everything ? { heldUnits } : {}),
  }
}

/** True when an amount is the whole position, except for rounding dust. */
const isWhole = (heldUnits: bigint, units: bigint) =>
  largest(heldUnits - units, units - heldUnits) <= dustOf(units)

function toBurn(
  { client: { chain }, registry, limits }: BuildContext,
  step: BridgeStep,
  { wallet, units }: Spending,
): AllowedCalls {
  const bridge = bridgeOf(step.protocol)
  const token = chain.usdc.address
  const maxFeeUnits = unitsOrZero(step.maxFee)
  const order = {
    wallet,
    units,
    maxFeeUnits,
    destination: registry.get(step.to),
    speed: step.speed,
  }
  const bounds = { maxFeeUnits, limits, ...bridge.burnBounds(chain, order) }
  return {
    calls: bridge.encodeBurn(chain, order),
    allowance: { kind: 'bridge', wallet, token, units, ...bounds },
  }
}

const unitsOrZero = (amount: string) => (Number(amount) === 0 ? 0n : assetUnits(amount))

async function toSwap(
  { client, head, limits }: BuildContext,
  step: SwapStep,
  { wallet, units }: Spending,
): Promise<AllowedCalls> {
  const { from, to, contract, poolFee } = listedSwap(client.chain, step)
  // Less may have arrived than was planned, so the minimum scales with the amount.
  const minimumUnits = divideUp(assetUnits(step.minimum) * units, assetUnits(step.amount))
  const swap = { from, to, unitsIn: units }
  const quote = await readQuote(client, swap, { blockNumber: head })
  if (!quote || quote.unitsOut < minimumUnits) {
    const message = `The swap would return ${quote?.unitsOut ?? 0n} base units of ${to.symbol} now. The plan requires ${minimumUnits}.`
    throw new ServiceError('SWAP_FAILED', message, unfair)
  }
  const { unitsOut, averageUnitsOut } = quote
  if (unitsOut > mostOutput(units, limits)) {
    const message = `The swap would return ${unitsOut} base units of ${to.symbol} for ${units} of ${from.symbol}: ${to.symbol} is worth less than a dollar now.`
    throw new ServiceError('SWAP_FAILED', message, unfair)
  }
  if (averageUnitsOut !== undefined && hasDrifted(unitsOut, averageUnitsOut, limits)) {
    const message = `The price of ${from.symbol} in ${to.symbol} has moved in the last minutes.`
    throw new ServiceError('SWAP_FAILED', message, unfair)
  }
  const bounds = { tokenOut: to.address, minimumUnits, poolFee, limits }
  return {
    calls: encodeSwap(contract, swap, { wallet, fee: poolFee, minimumUnits }),
    allowance: { kind: 'swap', wallet, token: from.address, contract, units, ...bounds },
  }
}

const unfair = { waitsFor: 'PRICE' } satisfies Held

/** Tokens of equal worth and the pool that the registry lists for them. Other pairs are never swapped. */
function listedSwap(chain: Chain, { asset, toAsset }: SwapStep) {
  const from = findToken(chain, asset)
  const to = findToken(chain, toAsset)
  const pool = from && to && findPool(chain, from, to)
  if (!pool || !chain.uniswap || !isEven(from, to)) {
    throw refusal('the chain must list both tokens, with the same worth, and their pool.')
  }
  return { from, to, contract: chain.uniswap.router, poolFee: pool.fee }
}

const isEven = (from: Token, to: Token) => from.worth === to.worth && from.decimals === to.decimals
