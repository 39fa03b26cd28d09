import { Interface, keccak256, toQuantity } from 'ethers'
import { isRevert, type ChainClient } from '../chains/connect.js'
import {
  DELEGATED_CODE,
  DELEGATE_ADDRESS,
  DELEGATE_CODE_HASH,
  ENTRY_POINT_ADDRESS,
} from '../chains/registry.js'
import { readsDomain } from '../chains/tokenDomain.js'
import { refusal } from '../custody/policy.js'
import { findBurn } from '../db/lanes/burns.js'
import { findFunding } from '../db/intents/fundings.js'
import { ServiceError } from '../domain/errors.js'
import { demoFunding } from '../domain/funding.js'
import { bridgeOf } from '../protocols/bridges/bridges.js'
import { explainRevert } from '../protocols/reverts.js'
import { isKeySpent } from '../protocols/spentKeys.js'
import { share } from '../share.js'
import { getPlanned, rebuildCalls } from './calls.js'
import { assertKey } from './genuine.js'
import { FUNDING_GAS } from './payload.js'
import { findShortage, readTreasuryFunds, type TreasuryFunds } from './treasury.js'
import { simulateTogether } from './simulate.js'
import { buildUserOperation, bundledGas, encodeBatch } from '../protocols/userOperation.js'
import { operationId } from '../lanes/operationId.js'
import type { WalletSecret } from '../db/keys.js'
import type { Order } from '../db/lanes/orders.js'
import { assertNotShort, readClaim, type Claim } from './claim.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Call } from '../domain/operation.js'
import { onceInRound, type Round, type SignerTools } from './round.js'
import type { UserOperation } from '../protocols/userOperation.js'

/**
 * Running out of gas inside the call would spend the operation's key for nothing. On Arbitrum an estimate holds
 * gas for the call's own data on L1 as well: of that the call needs nothing, it only makes the limit larger.
 */
const CALL_GAS_PERCENT = 150n

const usdc = new Interface(['function transfer(address to, uint256 value) returns (bool)'])

/** What is signed cannot be simulated before it is stored: the call below passes, and the transfer would not. */
const FOREIGN_DOMAIN = "the token's DOMAIN_SEPARATOR is not that of its name in the registry"

/** A checked and simulated operation. Nothing is signed yet. */
export type Prepared =
  | {
      kind: 'userOperation'
      operation: Operation
      secret: WalletSecret
      draft: Omit<UserOperation, 'signature'>
      needsAuthorization: boolean
      gas: bigint
      claim: Claim | undefined
      /** Dollars that begin to move by it, in base units. */
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

/** Why an operation was not prepared. `spent`: its key is used, its log is on its way to the driver. */
export type NotPrepared =
  | { kind: 'spent'; operation: Operation }
  | { kind: 'refused'; operation: Operation; reason: string }

/** An operation, and what it is built from. */
export type Ordered = { operation: Operation; order: Order }

type PrepareTools = Pick<SignerTools, 'db' | 'registry' | 'keyring' | 'limits'>

/**
 * Rebuilds the operation's calls from its plan, checks them against the policy and runs them unsigned
 * at the round's head. A signed operation is public: nothing is signed before it is stored.
 *
 * @throws {ServiceError} RPC_ERROR when the node did not answer; INTERNAL when the policy refuses; DEPOSIT_FAILED
 *   or WITHDRAW_FAILED while a market is full or empty.
 */
export async function prepare(
  tools: PrepareTools,
  round: Round,
  ordered: Ordered,
): Promise<Prepared | NotPrepared> {
  assertKey(ordered.operation)
  // It is needed to store; whoever asks then hears of a failure.
  round.readMeans().catch(() => undefined)
  const { kind } = ordered.operation
  if (kind === 'fund') return prepareFunding(tools, round, ordered)
  if (kind === 'mint') return prepareMint(tools, round, ordered)
  return prepareUserOperation(tools, round, ordered)
}

async function prepareUserOperation(
  tools: PrepareTools,
  round: Round,
  { operation, order }: Ordered,
): Promise<Prepared | NotPrepared> {
  const { chainKey: key } = operation
  const secret = assertOwn(operation, order.secret)
  const { address: sender } = secret
  const state = readState(round, operation, sender)
  // Whoever fails first tells why.
  state.catch(() => undefined)
  const rebuilt = await rebuildCalls(tools, round, { operation, order, wallet: sender })
  const { calls, movedUnits } = rebuilt
  const [{ isSpent, needsAuthorization, claim }, gas] = await Promise.all([
    state,
    estimateCallGas(round, sender, calls),
  ])
  if (isSpent) return { kind: 'spent', operation }
  if (typeof gas !== 'bigint') {
    await assertNotShort(round, operation, claim)
    return { kind: 'refused', operation, reason: gas.reason }
  }
  return {
    kind: 'userOperation',
    operation,
    secret,
    draft: buildUserOperation({ sender, key, calls, callGas: gas }),
    needsAuthorization,
    gas: bundledGas(gas),
    claim,
    movedUnits,
  }
}

/** What the chain says of an operation whatever it calls: at the round's head, so that what contracts tell is one question. */
async function readState(round: Round, operation: Operation, wallet: string) {
  const { client, head } = round
  const at = { blockNumber: head }
  const [isSpent, needsAuthorization, claim] = await Promise.all([
    isKeySpent(client, { ...operation, wallet, treasury: null }, at),
    needsAuthorizationIn(round, wallet),
    readClaim(round, operation),
  ])
  return { isSpent, needsAuthorization, claim }
}

/**
 * The key of an operation's wallet. Keys bind each to the account of the other in the database already; what
 * is sealed to another account cannot be opened.
 *
 * @throws {ServiceError} INTERNAL when the wallet is another account's.
 */
export function assertOwn(
  { walletId, accountId }: Pick<Operation, 'walletId' | 'accountId'>,
  secret: WalletSecret | undefined,
): WalletSecret {
  if (!secret) throw new Error(`Wallet ${walletId} has no key.`)
  if (secret.accountId === accountId) return secret
  throw refusal('the wallet must be of the same account.')
}

const isDelegated = (code: string) => code.toLowerCase() === DELEGATED_CODE

/** What is final stays so, and nobody else has the wallet's key; a node that was wrong is asked again some day. */
const FINAL_TTL_MS = 600_000

/** For each chain: resolves when the delegation of a wallet is final. That is asked once, anything else each time. */
const finalDelegations = new WeakMap<ChainClient, (wallet: string) => Promise<void>>()

function shareFinal(client: ChainClient): (wallet: string) => Promise<void> {
  const ask = async (wallet: string) => {
    const code = await client.send<string>('eth_getCode', [wallet, 'finalized'])
    if (!isDelegated(code)) throw new Error('The delegation is not final yet.')
  }
  const shared = share(ask, { ttlMs: FINAL_TTL_MS })
  finalDelegations.set(client, shared)
  return shared
}

/**
 * False only when the delegation is final. An authorization too many does no harm, so that it is attached as
 * well when the node cannot tell: it may have pruned that state, or not know what is final.
 */
function needsAuthorizationOf(client: ChainClient, wallet: string): Promise<boolean> {
  const untilFinal = finalDelegations.get(client) ?? shareFinal(client)
  return untilFinal(wallet).then(
    () => false,
    () => true,
  )
}

/** A wallet may have several operations in a round. */
const needsAuthorizationIn = onceInRound(({ client }, wallet) =>
  needsAuthorizationOf(client, wallet),
)

/** It never changes: the address of the delegate follows from its code. */
const readDelegateCode = share(
  async ({ chain, send }: ChainClient) => {
    const code = await send<string>('eth_getCode', [DELEGATE_ADDRESS, 'latest'])
    if (keccak256(code) === DELEGATE_CODE_HASH) return code
    // A node that is not in sync, or another chain. Without code every call would seem to succeed.
    const found = code === '0x' ? 'no code' : 'other code than that of Simple7702Account v0.8'
    throw new ServiceError('RPC_ERROR', `${chain.name} has ${found} at ${DELEGATE_ADDRESS}.`)
  },
  { ttlMs: Infinity },
)

/**
 * Runs the batch as the EntryPoint would, with the delegate's code put in place of the wallet's, which may have none
 * yet; together with others a delegation to it is put there. A `handleOps` call would not show a failure inside, and
 * would give the signed operation to the node before it is stored.
 */
async function estimateCallGas(
  round: Round,
  wallet: string,
  calls: Call[],
): Promise<bigint | { reason: string }> {
  const { client, head } = round
  const code = await readDelegateCode(client)
  const data = encodeBatch(calls)
  const limit = await simulateTogether(round, { wallet, data })
  if (limit !== undefined) return limit
  const call = { from: ENTRY_POINT_ADDRESS, to: wallet, data }
  const at = toQuantity(head)
  try {
    const gas = await client.send<string>('eth_estimateGas', [call, at, { [wallet]: { code } }])
    return (BigInt(gas) * CALL_GAS_PERCENT) / 100n
  } catch (error) {
    if (isRevert(error)) return { reason: reasonOf(error) }
    throw error
  }
}

const reasonOf = ({ details: { data, reason } }: ServiceError) =>
  explainRevert(data) ?? String(reason)

async function prepareFunding(
  { db, keyring }: PrepareTools,
  round: Round,
  { operation, order }: Ordered,
): Promise<Prepared | NotPrepared> {
  const { client } = round
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
    throw refusal('the funding must be of the same wallet.')
  }
  const [isSpent, funds, isReadable] = await Promise.all([
    isKeySpent(client, { ...operation, wallet: wallet.address, treasury }),
    readTreasuryFunds(db, round, treasury),
    readsDomain(client, chain.usdc),
  ])
  if (isSpent) return { kind: 'spent', operation }
  if (!isReadable) return { kind: 'refused', operation, reason: FOREIGN_DOMAIN }
  const data = usdc.encodeFunctionData('transfer', [wallet.address, units])
  try {
    await client.send('eth_call', [{ from: treasury, to: chain.usdc.address, data }, 'latest'])
  } catch (error) {
    if (!isRevert(error)) throw error
    return { kind: 'refused', operation, reason: `the treasury cannot pay: ${reasonOf(error)}` }
  }
  const shortage = await findShortage(db, chain.chainId, funds)
  if (shortage) return { kind: 'refused', operation, reason: shortage }
  return { kind: 'funding', operation, to: wallet.address, units, funds, gas: FUNDING_GAS }
}

/** The key of a mint is the nonce of its message, which says where the money goes. */
async function prepareMint(
  { db }: PrepareTools,
  { client, lane }: Round,
  { operation, order }: Ordered,
): Promise<Prepared | NotPrepared> {
  const { chain } = client
  const { intentId, sequence, chainKey } = operation
  const wallet = assertOwn(operation, order.secret)
  const { step } = getPlanned(operation, order)
  const burn = await findBurn(db, operationId(intentId, sequence, 'bridge'))
  if (step.type !== 'bridge' || step.to !== chain.name) {
    throw refusal('the operation must be in the plan.')
  }
  if (!burn?.message || !burn.attestation) {
    throw refusal('the message must be attested.')
  }
  const { message, attestation } = burn
  const bridge = bridgeOf(step.protocol)
  const { nonce, recipient } = bridge.readMessage(message)
  const isOurs = recipient === wallet.address && nonce === chainKey
  if (!isOurs || !bridge.leadsTo(chain, message)) {
    throw refusal('the message must be that of the burn.')
  }
  if (await bridge.isMinted(client, nonce)) return { kind: 'spent', operation }
  const call = bridge.encodeMint(chain, { message, attestation })
  try {
    const gas = await client.send<string>('eth_estimateGas', [
      { from: lane.sender, ...call },
      'latest',
    ])
    const { address } = wallet
    const limit = (BigInt(gas) * CALL_GAS_PERCENT) / 100n
    return { kind: 'mint', operation, wallet: address, call, gas: limit }
  } catch (error) {
    if (isRevert(error)) return { kind: 'refused', operation, reason: reasonOf(error) }
    throw error
  }
}
