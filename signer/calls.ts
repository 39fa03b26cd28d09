import { assertAllowed, refusal, type Allowance } from '../custody/policy.js'
import { readBalance } from '../chains/read.js'
import { findPool, findToken, type Chain, type Token } from '../chains/registry.js'
import { ServiceError } from '../domain/errors.js'
import { feederOf, spendingChain } from '../domain/intent.js'
import { defaultLimits, hasDrifted, type PriceLimits } from '../domain/limits.js'
import { assetUnits, divideUp } from '../domain/money.js'
import { isWithinRequest, type Asked } from '../domain/spending.js'
import { bridgeOf } from '../protocols/bridges/bridges.js'
import { getMarket, lendingProtocol } from '../protocols/lending/markets.js'
import { encodeSwap, readQuote } from '../protocols/swaps/uniswapV3.js'
import { readBrought } from './brought.js'
import type { Operation } from '../db/lanes/operations.js'
import type { SigningInput, PlannedRequest } from '../db/lanes/orders.js'
import type { Held } from '../domain/waiting.js'
import type { BridgeStep, DepositStep, Step, SwapStep, WithdrawStep } from '../domain/intent.js'
import type { Call } from '../domain/operation.js'
import type { Round, SignerTools } from './round.js'

/** Calls of a wallet, and what the plan allows them. `heldUnits`: what a market that is emptied holds. */
type AllowedCalls = { calls: Call[]; allowance: Allowance; heldUnits?: bigint }

/** Where the calls of a step are to be executed. */
type Place = Pick<Round, 'client' | 'head'> &
  Pick<SignerTools, 'registry'> & { limits: PriceLimits }

/** Whose money a step spends and how much of it, in base units; `most` is what it may spend. */
type Spending = { wallet: string; units: bigint; most: bigint; asked: Asked }

/** `movedUnits`: dollars that begin to move by them, in base units. None where an earlier step has moved them. */
export type Rebuilt = { calls: Call[]; movedUnits: bigint }

/**
 * The calls of an operation, from its plan's step and what has arrived for it. There is no free-form call:
 * each is checked against what the plan allows, and the plan against what was asked for. What a step before has
 * brought is read from the chain.
 *
 * @throws {ServiceError} INTERNAL when the plan has no such step, goes beyond what was asked for, or the policy
 *   refuses; SWAP_FAILED while a swap would bring less than the plan says, or its price has just moved; RPC_ERROR
 *   while the chain does not show what the step before has brought.
 */
export async function rebuildCalls(
  { db, registry, limits = defaultLimits }: Pick<SignerTools, 'db' | 'registry' | 'limits'>,
  round: Round,
  { operation, order, wallet }: { operation: Operation; order: SigningInput; wallet: string },
): Promise<Rebuilt> {
  const { client, head } = round
  const { plan, step, asked } = getPlanned(operation, order)
  if (step.type !== operation.kind || spendingChain(step) !== client.chain.name) {
    throw refusal('the operation must be in the plan.')
  }
  if (!isWithinRequest(asked, plan, limits)) {
    throw refusal('the plan must spend no more than its intent asks for.')
  }
  const feeder = feederOf(plan, step)
  const most = feeder
    ? await readBrought(db, round, { operation, feeder, wallet })
    : assetUnits(step.amount)
  const units = BigInt(operation.input.units)
  const place = { client, head, registry, limits }
  const rebuilt = await allowedCalls(place, step, { wallet, units, most, asked })
  const { calls, allowance, heldUnits = units } = rebuilt
  assertAllowed(calls, allowance)
  return { calls, movedUnits: feeder ? 0n : heldUnits }
}

/**
 * The plan of an operation, the step that it belongs to, and what the caller of its intent has asked for.
 *
 * @throws {ServiceError} INTERNAL when there is none.
 */
export function getPlanned(
  { sequence }: Operation,
  { planned }: SigningInput,
): PlannedRequest & { step: Step } {
  const step = planned?.plan.steps.find((candidate) => candidate.sequence === sequence)
  if (planned && step) return { ...planned, step }
  throw refusal('the operation must be in the plan.')
}

function allowedCalls(place: Place, step: Step, spending: Spending): Promise<AllowedCalls> {
  switch (step.type) {
    case 'deposit':
      return Promise.resolve(toDeposit(place.client.chain, step, spending))
    case 'withdraw':
      return toWithdrawal(place, step, spending)
    case 'bridge':
      return Promise.resolve(toBurn(place, step, spending))
    case 'swap':
      return toSwap(place, step, spending)
  }
}

function toDeposit(
  chain: Chain,
  step: DepositStep,
  { wallet, units, most }: Spending,
): AllowedCalls {
  const market = getMarket(chain, step.market)
  const { address: contract, underlying: token } = market
  return {
    calls: lendingProtocol(market).encodeDeposit(market, wallet, units),
    allowance: { kind: 'deposit', wallet, token, contract, units: most },
  }
}

async function toWithdrawal(
  { client, head }: Place,
  step: WithdrawStep,
  { wallet, units, most, asked }: Spending,
): Promise<AllowedCalls> {
  const market = getMarket(client.chain, step.market)
  const { address: contract, underlying: token, receiptToken } = market
  const protocol = lendingProtocol(market)
  const block = { blockNumber: head }
  const heldUnits = step.everything
    ? await protocol.readPosition(client, market, { wallet, block })
    : 0n
  const everything = step.everything === true && (asked.everything || isNearly(heldUnits, most))
  const held = { token: receiptToken, owner: wallet, block }
  const withdrawal = everything ? { receiptUnits: await readBalance(client, held) } : { units }
  return {
    calls: protocol.encodeWithdraw(market, wallet, withdrawal),
    allowance: { kind: 'withdraw', wallet, token, contract, units: most, everything },
    ...(everything ? { heldUnits } : {}),
  }
}

/** Interest comes in between plan and signature. Of anything more no more is taken out than was asked for. */
const isNearly = (heldUnits: bigint, plannedUnits: bigint) =>
  heldUnits * 100n <= plannedUnits * 101n + 1_000n

function toBurn(
  { client: { chain }, registry, limits }: Place,
  step: BridgeStep,
  { wallet, units, most }: Spending,
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
    allowance: { kind: 'bridge', wallet, token, units: most, ...bounds },
  }
}

const unitsOrZero = (amount: string) => (Number(amount) === 0 ? 0n : assetUnits(amount))

async function toSwap(
  { client, head, limits }: Place,
  step: SwapStep,
  { wallet, units, most }: Spending,
): Promise<AllowedCalls> {
  const { from, to, contract, poolFee } = listedSwap(client.chain, step)
  // Less may have arrived than was planned: the price is the bound.
  const minimumUnits = divideUp(assetUnits(step.minimum) * units, assetUnits(step.amount))
  const swap = { from, to, unitsIn: units }
  const quote = await readQuote(client, swap, { blockNumber: head })
  if (!quote || quote.unitsOut < minimumUnits) {
    const message = `The swap would bring ${quote?.unitsOut ?? 0n} base units of ${to.symbol} now, the plan asks for ${minimumUnits}.`
    throw new ServiceError('SWAP_FAILED', message, unfair)
  }
  const { unitsOut, averageUnitsOut } = quote
  if (averageUnitsOut !== undefined && hasDrifted(unitsOut, averageUnitsOut, limits)) {
    const message = `The price of ${from.symbol} in ${to.symbol} has moved in the last minutes.`
    throw new ServiceError('SWAP_FAILED', message, unfair)
  }
  const bounds = { tokenOut: to.address, minimumUnits, poolFee, limits }
  return {
    calls: encodeSwap(contract, swap, { wallet, fee: poolFee, minimumUnits }),
    allowance: { kind: 'swap', wallet, token: from.address, contract, units: most, ...bounds },
  }
}

const unfair = { waitsFor: 'PRICE' } satisfies Held

/** Tokens of the same worth, and where alone they are swapped. */
function listedSwap(chain: Chain, { asset, toAsset }: SwapStep) {
  const from = findToken(chain, asset)
  const to = findToken(chain, toAsset)
  const pool = from && to && findPool(chain, from, to)
  if (!pool || !chain.uniswap || !isEven(from, to)) {
    throw refusal(
      'the chain must list the tokens of the swap, as of the same worth, and their pool.',
    )
  }
  return { from, to, contract: chain.uniswap.router, poolFee: pool.fee }
}

const isEven = (from: Token, to: Token) => from.worth === to.worth && from.decimals === to.decimals
