import { Interface } from 'ethers'
import { readsDomain } from '../evm/tokenDomain.js'
import { refusal } from '../custody/policy.js'
import { findBurn } from '../operations/burns.js'
import { findFunding } from '../db/intents/fundings.js'
import { sourceStepOf, type BridgeStep, type StepPlan } from '../domain/intent/intent.js'
import { assetUnits } from '../domain/money.js'
import { demoFunding } from '../domain/intent/funding.js'
import { bridgeOf } from '../evm/bridges/bridges.js'
import { isKeySpent } from '../evm/logs/spentKeys.js'
import { getPlanned, rebuildCalls } from './build/calls.js'
import { assertKey, assertOwn } from './check/verifySignature.js'
import { FUNDING_GAS } from './build/payload.js'
import { assertOpens } from './check/openedKey.js'
import { findShortage, readTreasuryFunds, type TreasuryFunds } from './senders/treasury.js'
import {
  estimateCall,
  estimateWalletCall,
  findFailure,
  readAuthorizationNonce,
} from './check/simulate.js'
import { buildUserOperation, bundledGas, encodeBatch } from '../evm/calls/userOperation.js'
import { operationId } from '../operations/operationId.js'
import type { WalletSecret } from '../db/keys.js'
import type { SigningInput } from '../operations/signing/orders.js'
import { assertNotShort, readCapacityDemand, type CapacityDemand } from './check/capacityDemand.js'
import type { Operation } from '../operations/operations.js'
import type { Call } from '../domain/intent/operation.js'
import type { SigningContext, SignerTools } from './signingContext.js'
import type { UserOperation } from '../evm/calls/userOperation.js'

const usdc = new Interface(['function transfer(address to, uint256 value) returns (bool)'])

/** Simulated with a plain transfer, because signing comes after storing. A plain transfer does not check the domain. */
const FOREIGN_DOMAIN = "the token's DOMAIN_SEPARATOR is not that of its name in the registry"

/** A checked and simulated operation. Nothing is signed yet. */
export type Prepared =
  | {
      kind: 'userOperation'
      operation: Operation
      secret: WalletSecret
      draft: Omit<UserOperation, 'signature'>
      /** Account nonce for the wallet's authorization; undefined: it needs none. */
      authorizationNonce: bigint | undefined
      gas: bigint
      demand: CapacityDemand | undefined
      /** Base units in USD that the operation sets in motion. */
      movedUnits: bigint
    }
  | {
      kind: 'funding'
      operation: Operation
      to: string
      units: bigint
      funds: TreasuryFunds
      gas: bigint
    }
  | { kind: 'mint'; operation: Operation; wallet: string; call: Call; gas: bigint }

/** Why an operation was not prepared. `spent`: its key is used, and the relayer will index its log. */
export type NotPrepared =
  | { kind: 'spent'; operation: Operation }
  | { kind: 'refused'; operation: Operation; reason: string }

/** An operation and the data to build it from. */
export type Ordered = { operation: Operation; order: SigningInput }

type PrepareTools = Pick<SignerTools, 'db' | 'registry' | 'keyring' | 'limits'>

/**
 * Rebuilds the operation's calls from its plan, checks them against the policy and simulates them unsigned at the
 * head of the signing context. A signed operation is public, so nothing is signed before it is stored.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer; INTERNAL when the policy rejects; DEPOSIT_FAILED
 *   or WITHDRAW_FAILED while a market is full or empty.
 */
export async function prepare(
  tools: PrepareTools,
  context: SigningContext,
  ordered: Ordered,
): Promise<Prepared | NotPrepared> {
  assertKey(ordered.operation)
  const { kind } = ordered.operation
  if (kind === 'fund') return prepareFunding(tools, context, ordered)
  if (kind === 'mint') return prepareMint(tools, context, ordered)
  return prepareUserOperation(tools, context, ordered)
}

async function prepareUserOperation(
  tools: PrepareTools,
  context: SigningContext,
  { operation, order }: Ordered,
): Promise<Prepared | NotPrepared> {
  const { chainKey: key } = operation
  const secret = assertOwn(operation, order.secret)
  const { address: sender } = secret
  const [[isSpent, authorizationNonce, demand], { callData, movedUnits, gas }] = await Promise.all([
    readState(context, operation, sender),
    rebuildAndEstimate(tools, context, { operation, order, wallet: sender }),
  ])
  if (isSpent) return { kind: 'spent', operation }
  if (typeof gas !== 'bigint') {
    await assertNotShort(context, operation, demand)
    return { kind: 'refused', operation, reason: gas.reason }
  }
  if (typeof authorizationNonce === 'object') {
    return { kind: 'refused', operation, reason: authorizationNonce.reason }
  }
  return {
    kind: 'userOperation',
    operation,
    secret,
    draft: buildUserOperation({ sender, key, callData, callGas: gas }),
    authorizationNonce,
    gas: bundledGas(gas),
    demand,
    movedUnits,
  }
}

/** The chain state of an operation, independent of its calls. Reads at the head are batched into one request. */
function readState(context: SigningContext, operation: Operation, wallet: string) {
  const { client, head } = context
  return Promise.all([
    isKeySpent(client, { ...operation, wallet, treasury: null }, { blockNumber: head }),
    readAuthorizationNonce(context, wallet),
    readCapacityDemand(context, operation),
  ])
}

async function rebuildAndEstimate(
  tools: PrepareTools,
  context: SigningContext,
  ordered: Ordered & { wallet: string },
) {
  const { calls, movedUnits } = await rebuildCalls(tools, context, ordered)
  const { wallet } = ordered
  const callData = encodeBatch(calls)
  const gas = await estimateWalletCall(context, { wallet, data: callData })
  return { callData, movedUnits, gas }
}

async function prepareFunding(
  { db, keyring }: PrepareTools,
  context: SigningContext,
  { operation, order }: Ordered,
): Promise<Prepared | NotPrepared> {
  const { client } = context
  const { chain } = client
  const treasury = keyring.treasury.address
  const wallet = assertOwn(operation, order.secret)
  const funding = await findFunding(db, operation.intentId)
  const { units, chain: fundedChain } = demoFunding
  if (!funding || BigInt(funding.units) !== units || chain.name !== fundedChain) {
    throw refusal('a funding must be exactly 1 USDC on arbitrum-sepolia.')
  }
  const { walletId, accountId } = funding
  if (walletId !== operation.walletId || accountId !== operation.accountId) {
    throw refusal('the funding must belong to the same wallet.')
  }
  await assertOpens(keyring, wallet)
  const [isSpent, funds, isReadable] = await Promise.all([
    isKeySpent(client, { ...operation, wallet: wallet.address, treasury }),
    readTreasuryFunds(db, context, treasury),
    readsDomain(client, chain.usdc),
  ])
  if (isSpent) return { kind: 'spent', operation }
  if (!isReadable) return { kind: 'refused', operation, reason: FOREIGN_DOMAIN }
  const data = usdc.encodeFunctionData('transfer', [wallet.address, units])
  const call = { from: treasury, to: chain.usdc.address, data }
  const failure = await findFailure(client, call, ['latest'])
  if (failure) return { kind: 'refused', operation, reason: `the treasury cannot pay: ${failure}` }
  const shortage = await findShortage(db, chain.chainId, funds)
  if (shortage) return { kind: 'refused', operation, reason: shortage }
  return { kind: 'funding', operation, to: wallet.address, units, funds, gas: FUNDING_GAS }
}

/** The key of a mint is the nonce of its message. The message holds the recipient. */
async function prepareMint(
  { db }: PrepareTools,
  { client, sender }: SigningContext,
  { operation, order }: Ordered,
): Promise<Prepared | NotPrepared> {
  const { chain } = client
  const { intentId, sequence, chainKey } = operation
  const wallet = assertOwn(operation, order.secret)
  const { plan, step } = getPlanned(operation, order)
  const burn = await findBurn(db, operationId(intentId, sequence, 'bridge'))
  if (step.type !== 'bridge' || step.to !== chain.name) {
    throw refusal('the operation must be in the plan.')
  }
  if (!burn?.message || !burn.attestation) {
    throw refusal('the message must be attested.')
  }
  const { message, attestation } = burn
  const bridge = bridgeOf(step.protocol)
  const { nonce, recipient, units } = bridge.readMessage(message)
  const isOurs = recipient === wallet.address && nonce === chainKey
  if (!isOurs || !carriesWhole(plan, step, units) || !bridge.leadsTo(chain, message)) {
    throw refusal('the message must match the burn.')
  }
  if (await bridge.isMinted(client, nonce)) return { kind: 'spent', operation }
  const call = bridge.encodeMint(chain, { message, attestation })
  const gas = await estimateCall(client, { from: sender.address, ...call }, ['latest'])
  if (typeof gas !== 'bigint') return { kind: 'refused', operation, reason: gas.reason }
  return { kind: 'mint', operation, wallet: wallet.address, call, gas }
}

/** True when a message carries the amount of its step. What a step before the burn has delivered is on another chain. */
const carriesWhole = (plan: StepPlan, step: BridgeStep, units: bigint): boolean =>
  sourceStepOf(plan, step) !== undefined || units === assetUnits(step.amount)
