import { assertAllowed, type Allowance } from '../custody/policy.js'
import { readBalance } from '../chains/read.js'
import { findToken, type Chain, type Registry } from '../chains/registry.js'
import { findPlan } from '../db/intents/intents.js'
import { findOperation } from '../db/lanes/operations.js'
import { ServiceError } from '../domain/errors.js'
import { feederOf, lastKind, spendingChain } from '../domain/intent.js'
import { ASSET_DECIMALS, toUnits } from '../domain/money.js'
import { encodeBurn, finalityThreshold } from '../protocols/bridges/cctp/contracts.js'
import { getMarket, lendingProtocol } from '../protocols/lending/markets.js'
import { encodeSwap, readQuote } from '../protocols/swaps/uniswapV3.js'
import { outcomeOf } from '../lanes/outcome.js'
import { operationId } from '../lanes/operationId.js'
import type { ChainClient } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'
import type { Operation } from '../db/lanes/operations.js'
import type {
  BridgeStep,
  DepositStep,
  ExecutionPlan,
  Step,
  SwapStep,
  WithdrawStep,
} from '../domain/intent.js'
import type { Call } from '../domain/operation.js'

export type CallSite = { db: Db; client: ChainClient; registry: Registry; block: bigint }

/** Calls of a wallet, and what the plan allows them. */
type Order = { calls: Call[]; allowance: Allowance }

/**
 * The calls of an operation, from its plan's step and what has arrived for it. There is no free-form call:
 * each is checked against what the plan allows.
 *
 * @throws {ServiceError} INTERNAL when the plan has no such step or the policy refuses; SWAP_FAILED while
 *   a swap would bring less than the plan says.
 */
export async function rebuildCalls(
  site: CallSite,
  operation: Operation,
  wallet: string,
): Promise<Call[]> {
  const { chain } = site.client
  const plan = await findPlan(site.db, operation.intentId, operation.walletId)
  const step = plan?.steps.find(({ sequence }) => sequence === operation.sequence)
  if (!plan || step?.type !== operation.kind || spendingChain(step) !== chain.name) {
    throw new ServiceError('INTERNAL', 'Refused to sign: the operation must be in the plan.')
  }
  const most = await mostUnits(site.db, operation, plan, step)
  const { calls, allowance } = await toOrder(site, step, wallet, {
    units: BigInt(operation.input.units),
    most,
  })
  assertAllowed(calls, allowance)
  return calls
}

/** What a step may spend: what the step before it has brought, else what the plan says. */
async function mostUnits(
  db: Db,
  { intentId }: Operation,
  plan: ExecutionPlan,
  step: Step,
): Promise<bigint> {
  const feeder = feederOf(plan, step)
  if (!feeder) return toUnits(step.amount, ASSET_DECIMALS)
  const row = await findOperation(db, operationId(intentId, feeder.sequence, lastKind(feeder)))
  const outcome = row && outcomeOf(row)
  if (outcome?.kind === 'done' && outcome.units !== undefined) return outcome.units
  throw new ServiceError('RPC_ERROR', 'What the step before has brought is not booked yet.')
}

type Amounts = { units: bigint; most: bigint }

function toOrder(site: CallSite, step: Step, wallet: string, amounts: Amounts): Promise<Order> {
  switch (step.type) {
    case 'deposit':
      return Promise.resolve(toDeposit(site.client.chain, step, wallet, amounts))
    case 'withdraw':
      return toWithdrawal(site, step, wallet, amounts)
    case 'bridge':
      return Promise.resolve(toBurn(site, step, wallet, amounts))
    case 'swap':
      return toSwap(site, step, wallet, amounts)
  }
}

function toDeposit(chain: Chain, step: DepositStep, wallet: string, amounts: Amounts): Order {
  const market = getMarket(chain, step.market)
  const { address: contract, underlying: token } = market
  return {
    calls: lendingProtocol(market).encodeDeposit(market, wallet, amounts.units),
    allowance: { kind: 'deposit', wallet, token, contract, units: amounts.most },
  }
}

async function toWithdrawal(
  { client, block }: CallSite,
  step: WithdrawStep,
  wallet: string,
  { units, most }: Amounts,
): Promise<Order> {
  const market = getMarket(client.chain, step.market)
  const { address: contract, underlying: token } = market
  const everything = step.everything === true
  const at = { blockNumber: block }
  const withdrawal = everything
    ? { receiptUnits: await readBalance(client, market.receiptToken, wallet, at) }
    : { units }
  return {
    calls: lendingProtocol(market).encodeWithdraw(market, wallet, withdrawal),
    allowance: { kind: 'withdraw', wallet, token, contract, units: most, everything },
  }
}

function toBurn(
  { client, registry }: CallSite,
  step: BridgeStep,
  wallet: string,
  { units, most }: Amounts,
): Order {
  const { chain } = client
  const maxFeeUnits = unitsOrZero(step.maxFee)
  const destinationDomain = registry.get(step.to).cctp.domain
  const bounds = { maxFeeUnits, destinationDomain }
  const finality = finalityThreshold[step.speed]
  const token = chain.usdc.address
  const contract = chain.cctp.tokenMessenger
  return {
    calls: encodeBurn(chain, { wallet, units, speed: step.speed, ...bounds }),
    allowance: { kind: 'bridge', wallet, token, contract, units: most, ...bounds, finality },
  }
}

const unitsOrZero = (amount: string) =>
  Number(amount) === 0 ? 0n : toUnits(amount, ASSET_DECIMALS)

async function toSwap(
  { client, block }: CallSite,
  step: SwapStep,
  wallet: string,
  { units, most }: Amounts,
): Promise<Order> {
  const { chain } = client
  const from = findToken(chain, step.asset)
  const to = findToken(chain, step.toAsset)
  const contract = chain.uniswap?.router
  if (!from || !to || !contract) {
    throw new ServiceError(
      'INTERNAL',
      'Refused to sign: the chain must list the tokens of the swap.',
    )
  }
  // Less may have arrived than was planned: the price is the bound.
  const minimumUnits =
    (toUnits(step.minimum, ASSET_DECIMALS) * units) / toUnits(step.amount, ASSET_DECIMALS)
  const swap = { from, to, unitsIn: units }
  const quote = await readQuote(client, swap, { blockNumber: block })
  if (!quote || quote.unitsOut < minimumUnits) {
    const message = `The swap would bring ${quote?.unitsOut ?? 0n} base units of ${to.symbol} now, the plan asks for ${minimumUnits}.`
    throw new ServiceError('SWAP_FAILED', message)
  }
  const bounds = { fee: quote.fee, minimumUnits }
  const limits = { tokenOut: to.address, minimumUnits }
  return {
    calls: encodeSwap(contract, wallet, swap, bounds),
    allowance: { kind: 'swap', wallet, token: from.address, contract, units: most, ...limits },
  }
}
