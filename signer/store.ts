import { Interface, MaxUint256, Signature, Transaction, type TransactionRequest } from 'ethers'
import { highestL1Part } from '../chains/l1Costs.js'
import { openAccount } from '../custody/open.js'
import { DELEGATE_ADDRESS, ENTRY_POINT_ADDRESS, type Chain } from '../chains/registry.js'
import { tokenDomain } from '../chains/tokenDomain.js'
import { sumCosts } from '../db/lanes/gas.js'
import { lockNextNonce, storeSigned, type Lane } from '../db/lanes/signing.js'
import { lockTaken } from '../db/lanes/taking.js'
import { ServiceError } from '../domain/errors.js'
import {
  encodeBundle,
  gasLimitOf,
  typedUserOperation,
  type UserOperation,
} from '../protocols/userOperation.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Call } from '../domain/operation.js'
import type { Prepared } from './prepare.js'
import { asGas, type Keyring, type Round, type SignerTools } from './round.js'

/** Largest execution gas of one bundle; below the transaction cap of EIP-7825. */
export const BUNDLE_GAS = 15_000_000n

/** What was signed for an operation, as its row keeps it: enough to carry it in another transaction. */
type Payload = {
  gas: string
  userOperation?: UserOperation
  call?: Call
  authorization?: { address: string; nonce: string; chainId: string; signature: string }
}
type Signed = { id: string; payload: Payload }

export type Stored = { nonce: bigint; hash: string; operations: string[] }

type StoringTools = Pick<SignerTools, 'db' | 'keyring'>

/** An operation for which nothing can be signed. */
export type Broken = { operation: Operation; error: unknown }

/**
 * Signs and stores one transaction for those operations that are still ours, in one database
 * transaction: a signature exists exactly when its row says so.
 *
 * @returns `stored` is undefined when nothing was left to sign; `broken` are the members that could not be signed,
 *   without which the others go.
 */
export async function signAndStore(
  { db, keyring }: StoringTools,
  round: Round,
  prepared: Prepared[],
): Promise<{ stored: Stored | undefined; broken: Broken[] }> {
  return db.transaction(async (trx) => {
    const operations = prepared.map(({ operation }) => operation)
    const live = await lockTaken(trx, operations, keyring.taker)
    const ours = prepared.filter(({ operation }) => live.includes(operation))
    const signed: Signed[] = []
    const broken: Broken[] = []
    for (const one of ours) {
      try {
        signed.push(await signPrepared(keyring, round.client.chain, one))
      } catch (error) {
        broken.push({ operation: one.operation, error })
      }
    }
    if (signed.length === 0) return { stored: undefined, broken }
    return { stored: await storeTransaction({ db: trx, keyring }, round, signed), broken }
  })
}

/** Carries an operation whose transaction died in a new one: the same signed payload, alone. */
export async function storeAgain(
  { db, keyring }: StoringTools,
  round: Round,
  operation: Operation,
): Promise<Stored | undefined> {
  return db.transaction(async (trx) => {
    const [ours] = await lockTaken(trx, [operation], keyring.taker)
    if (!ours) return undefined
    const payload = ours.payload as Payload
    assertCarriable(round.client.chain, payload)
    return storeTransaction({ db: trx, keyring }, round, [{ id: ours.id, payload }])
  })
}

/** A stored payload is signed, but the lane's own call around it is not: no row can make it another. */
function assertCarriable(chain: Chain, { call, userOperation, gas }: Payload): void {
  const isFunding = call?.to === chain.usdc.address && authorizedTransfer.parseTransaction(call)
  if ((isFunding || (userOperation && !call)) && BigInt(gas) <= BUNDLE_GAS) return
  throw new ServiceError('INTERNAL', 'Refused to sign: the stored payload must be one of ours.')
}

/** `db` is the transaction in which the operations are locked. */
async function storeTransaction(
  tools: StoringTools,
  round: Round,
  carried: Signed[],
): Promise<Stored> {
  const planned = planTransaction(round, carried)
  const { nonce, hash } = await storePlanned(tools, round, { ...planned, carried })
  return { nonce, hash, operations: carried.map(({ id }) => id) }
}

/** A transaction without its nonce. `l1FeeWei`: the most that posting it may cost beside its gas. */
export type Planned = { request: TransactionRequest & { gasLimit: bigint }; l1FeeWei: bigint }

/**
 * Binds the next nonce of a lane to a transaction, signs it and stores it, in the caller's database transaction.
 *
 * @param planned - `keptWei`: what the lane must have left.
 * @throws {ServiceError} RPC_ERROR that `unpaidGas` knows when the lane cannot pay it beside what it has signed.
 */
export async function storePlanned(
  { db, keyring }: StoringTools,
  { client: { chain }, lane, usedNonces, balanceWei, fees }: Round,
  { request, l1FeeWei, carried, keptWei = 0n }: Planned & { carried: Signed[]; keptWei?: bigint },
): Promise<{ id: bigint; nonce: bigint; hash: string }> {
  const nonce = await lockNextNonce(db, lane)
  if (usedNonces > nonce) {
    const message = `Lane ${lane.sender} has used more nonces on chain than the database knows.`
    throw new ServiceError('INTERNAL', message)
  }
  const { gasLimit } = request
  const valueWei = BigInt(request.value ?? 0n)
  const costWei = gasLimit * fees.maxWei + l1FeeWei + valueWei
  if (balanceWei - keptWei < costWei + (await sumCosts(db, lane, usedNonces))) {
    const message = `Lane ${lane.sender} on ${chain.name} is out of gas.`
    throw new ServiceError('RPC_ERROR', message, { unpaidGas: asGas(costWei, fees).toString() })
  }
  const sender = await openAccount(keyring.kek, lane.sealedKey, laneContext(lane))
  const raw = await sender.signTransaction({ ...request, nonce: Number(nonce) })
  const { hash } = Transaction.from(raw)
  if (!hash) throw new Error('The transaction is not signed.')
  const costs = { maxFeeWei: fees.maxWei, gasLimit, l1FeeWei, valueWei }
  const id = await storeSigned(db, lane, { nonce, hash, raw, ...costs, carried })
  return { id, nonce, hash }
}

/** The gas that a lane could not pay for, when that is what an error says. */
export function unpaidGas(error: unknown): bigint | undefined {
  const gas = error instanceof ServiceError ? error.details.unpaidGas : undefined
  return typeof gas === 'string' ? BigInt(gas) : undefined
}

function planTransaction(
  { client: { chain }, lane, fees, l1Price }: Round,
  carried: Signed[],
): Planned {
  const { to, data } = callOf(lane, carried)
  const authorizationList = carried.flatMap(({ payload }) => payload.authorization ?? [])
  const gas = carried.reduce((sum, { payload }) => sum + BigInt(payload.gas), 0n)
  const authorizations = authorizationList.length
  const l1 = highestL1Part(chain, l1Price, { data, authorizations })
  const request = {
    type: authorizations > 0 ? 4 : 2,
    chainId: chain.chainId,
    to,
    data,
    gasLimit: gasLimitOf(data, authorizations, gas) + l1.gas,
    maxFeePerGas: fees.maxWei,
    maxPriorityFeePerGas: fees.tipWei,
    ...(authorizations > 0 ? { authorizationList } : {}),
  }
  return { request, l1FeeWei: l1.feeWei }
}

/** User operations travel together through the EntryPoint, a funding goes to the token directly. */
function callOf(lane: Lane, carried: Signed[]): Call {
  const direct = carried[0]?.payload.call
  if (direct) return direct
  const operations = carried.flatMap(({ payload }) => payload.userOperation ?? [])
  return { to: ENTRY_POINT_ADDRESS, data: encodeBundle(operations, lane.sender) }
}

async function signPrepared(keyring: Keyring, chain: Chain, prepared: Prepared): Promise<Signed> {
  const { id } = prepared.operation
  const gas = prepared.gas.toString()
  if (prepared.kind === 'mint') return { id, payload: { gas, call: prepared.call } }
  if (prepared.kind === 'funding') {
    const call = await signFunding(keyring, chain, prepared)
    return { id, payload: { gas, call } }
  }
  const { secret, draft } = prepared
  const wallet = await openAccount(keyring.kek, secret.sealed, {
    purpose: 'wallet',
    owner: secret.walletId,
    ...secret,
  })
  const typed = typedUserOperation(chain.chainId, draft)
  const signature = await wallet.signTypedData(typed.domain, typed.types, typed.message)
  const userOperation = { ...draft, signature }
  if (!prepared.needsAuthorization) return { id, payload: { gas, userOperation } }
  // Wallets send no transactions of their own, so that their account nonce is 0 until the delegation.
  const { chainId } = chain
  const { signature: proof } = wallet.authorizeSync({
    address: DELEGATE_ADDRESS,
    nonce: 0,
    chainId,
  })
  const authorization = {
    address: DELEGATE_ADDRESS,
    nonce: '0',
    chainId: chainId.toString(),
    signature: proof.serialized,
  }
  return { id, payload: { gas, userOperation, authorization } }
}

/** @see https://eips.ethereum.org/EIPS/eip-3009 */
const authorizedTransfer = new Interface([
  `function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter,
    uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)`,
])
const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
}

async function signFunding(
  { kek, treasury }: Keyring,
  chain: Chain,
  funding: Extract<Prepared, { kind: 'funding' }>,
): Promise<Call> {
  const { usdc: token } = chain
  const account = await openAccount(kek, treasury.sealed, treasuryContext(treasury))
  const message = {
    from: treasury.address,
    to: funding.to,
    value: funding.units,
    validAfter: 0n,
    // No expiry: an unexecuted authorization must stay the only way to pay this funding.
    validBefore: MaxUint256,
    nonce: funding.operation.chainKey,
  }
  const domain = tokenDomain(chain, token)
  const { v, r, s } = Signature.from(await account.signTypedData(domain, transferTypes, message))
  const data = authorizedTransfer.encodeFunctionData('transferWithAuthorization', [
    ...Object.values(message),
    v,
    r,
    s,
  ])
  return { to: token.address, data }
}

/** What a lane's key is sealed for. The treasury's is the same on all chains. */
export const laneContext = (lane: Pick<Lane, 'chainId' | 'sender' | 'kekId' | 'purpose'>) =>
  lane.purpose === 'treasury'
    ? treasuryContext({ address: lane.sender, kekId: lane.kekId })
    : {
        purpose: 'lane' as const,
        owner: `${lane.chainId}/${lane.sender}`,
        accountId: '',
        address: lane.sender,
        kekId: lane.kekId,
      }

export const treasuryContext = (treasury: { address: string; kekId: string }) => ({
  purpose: 'treasury' as const,
  owner: treasury.address,
  accountId: '',
  address: treasury.address,
  kekId: treasury.kekId,
})
