import { assertAllowed, type Allowance } from '../custody/policy.js'
import { readBalance } from '../chains/read.js'
import { findToken, type Chain } from '../chains/registry.js'
import { findPlan } from '../db/intents/intents.js'
import { findOperation } from '../db/lanes/operations.js'
import { ServiceError } from '../domain/errors.js'
import { feederOf, lastKind, spendingChain } from '../domain/intent.js'
import { assetUnits } from '../domain/money.js'
import { bridgeOf } from '../protocols/bridges/bridges.js'
import { getMarket, lendingProtocol } from '../protocols/lending/markets.js'
import { encodeSwap, readQuote } from '../protocols/swaps/uniswapV3.js'
import { outcomeOf } from '../lanes/outcome.js'
import { operationId } from '../lanes/operationId.js'
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
import type { Round, SignerTools } from './round.js'

/** Calls of a wallet, and what the plan allows them. */
type AllowedCalls = { calls: Call[]; allowance: Allowance }

/** Where the calls of a step are to be executed. */
type Place = Pick<Round, 'client' | 'head'> & Pick<SignerTools, 'registry'>

/** Whose money a step spends and how much of it, in base units; `most` is what it may spend. */
type Spending = { wallet: string; units: bigint; most: bigint }

/**
 * The calls of an operation, from its plan's step and what has arrived for it. There is no free-form call:
 * each is checked against what the plan allows.
 *
 * @throws {ServiceError} INTERNAL when the plan has no such step or the policy refuses; SWAP_FAILED while
 *   a swap would bring less than the plan says.
 */
export async function rebuildCalls(
  { db, registry }: Pick<SignerTools, 'db' | 'registry'>,
  { client, head }: Pick<Round, 'client' | 'head'>,
  { operation, wallet }: { operation: Operation; wallet: string },
): Promise<Call[]> {
  const { plan, step } = await getPlanned(db, operation)
  if (step.type !== operation.kind || spendingChain(step) !== client.chain.name) {
    throw new ServiceError('INTERNAL', 'Refused to sign: the operation must be in the plan.')
  }
  const feeder = feederOf(plan, step)
  const most = feeder ? await broughtUnits(db, operation, feeder) : assetUnits(step.amount)
  const spending = { wallet, units: BigInt(operation.input.units), most }
  const { calls, allowance } = await allowedCalls({ client, head, registry }, step, spending)
  assertAllowed(calls, allowance)
  return calls
}

/** The plan of an operation, and the step that it belongs to. Throws INTERNAL when there is none. */
export async function getPlanned(
  db: Db,
  { intentId, walletId, accountId, sequence }: Operation,
): Promise<{ plan: ExecutionPlan; step: Step }> {
  const plan = await findPlan(db, intentId, { walletId, accountId })
  const step = plan?.steps.find((candidate) => candidate.sequence === sequence)
  if (plan && step) return { plan, step }
  throw new ServiceError('INTERNAL', 'Refused to sign: the operation must be in the plan.')
}

/** Base units that the step before has brought. Throws RPC_ERROR while that is not booked. */
async function broughtUnits(db: Db, { intentId }: Operation, feeder: Step): Promise<bigint> {
  const row = await findOperation(db, operationId(intentId, feeder.sequence, lastKind(feeder)))
  const outcome = row && outcomeOf(row)
  if (outcome?.kind === 'done' && outcome.units !== undefined) return outcome.units
  throw new ServiceError('RPC_ERROR', 'What the step before has brought is not booked yet.')
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
  { wallet, units, most }: Spending,
): Promise<AllowedCalls> {
  const market = getMarket(client.chain, step.market)
  const { address: contract, underlying: token, receiptToken } = market
  const everything = step.everything === true
  const held = { token: receiptToken, owner: wallet, block: { blockNumber: head } }
  const withdrawal = everything ? { receiptUnits: await readBalance(client, held) } : { units }
  return {
    calls: lendingProtocol(market).encodeWithdraw(market, wallet, withdrawal),
    allowance: { kind: 'withdraw', wallet, token, contract, units: most, everything },
  }
}

function toBurn(
  { client: { chain }, registry }: Place,
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
  const bounds = { maxFeeUnits, ...bridge.burnBounds(chain, order) }
  return {
    calls: bridge.encodeBurn(chain, order),
    allowance: { kind: 'bridge', wallet, token, units: most, ...bounds },
  }
}

const unitsOrZero = (amount: string) => (Number(amount) === 0 ? 0n : assetUnits(amount))

async function toSwap(
  { client, head }: Place,
  step: SwapStep,
  { wallet, units, most }: Spending,
): Promise<AllowedCalls> {
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
  const minimumUnits = (assetUnits(step.minimum) * units) / assetUnits(step.amount)
  const swap = { from, to, unitsIn: units }
  const quote = await readQuote(client, swap, { blockNumber: head })
  if (!quote || quote.unitsOut < minimumUnits) {
    const message = `The swap would bring ${quote?.unitsOut ?? 0n} base units of ${to.symbol} now, the plan asks for ${minimumUnits}.`
    throw new ServiceError('SWAP_FAILED', message)
  }
  const limits = { tokenOut: to.address, minimumUnits }
  return {
    calls: encodeSwap(contract, swap, { wallet, fee: quote.fee, minimumUnits }),
    allowance: { kind: 'swap', wallet, token: from.address, contract, units: most, ...limits },
  }
}
