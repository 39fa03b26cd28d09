import { Interface, TypedDataEncoder, toBeHex } from 'ethers'
import { DELEGATE_ADDRESS, ENTRY_POINT_ADDRESS } from '../registry.js'
import type { Call } from '../../domain/intent/operation.js'

/** @see https://github.com/eth-infinitism/account-abstraction/blob/v0.8.0/contracts/core/EntryPoint.sol */
export const entryPoint = new Interface([
  `function handleOps(tuple(address sender, uint256 nonce, bytes initCode, bytes callData,
    bytes32 accountGasLimits, uint256 preVerificationGas, bytes32 gasFees, bytes paymasterAndData,
    bytes signature)[] ops, address beneficiary)`,
  'function getNonce(address sender, uint192 key) view returns (uint256)',
  'event BeforeExecution()',
  `event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender,
    address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost,
    uint256 actualGasUsed)`,
  `event UserOperationRevertReason(bytes32 indexed userOpHash, address indexed sender, uint256 nonce,
    bytes revertReason)`,
])

const delegate = new Interface([
  'function executeBatch(tuple(address target, uint256 value, bytes data)[] calls)',
])

export type UserOperation = {
  sender: string
  nonce: string
  initCode: string
  callData: string
  accountGasLimits: string
  preVerificationGas: string
  gasFees: string
  paymasterAndData: string
  signature: string
}

/** Marker of an EIP-7702 account in `initCode`. Valid before, during and after its delegation. */
const DELEGATED = '0x7702000000000000000000000000000000000000'

/** Signature check and nonce of the account; measured below 60,000. Unused gas is not charged. */
const VERIFICATION_GAS = 120_000n
/** The EntryPoint's own gas for one operation: loops, copies, its event. */
const BOOKKEEPING_GAS = 60_000n
const BASE_GAS = 21_000n
/** @see https://eips.ethereum.org/EIPS/eip-7702 PER_EMPTY_ACCOUNT_COST */
const AUTHORIZATION_GAS = 25_000n

const nonceOf = (key: string) => `${key}${'0'.repeat(16)}`

/** The wallet's calls in order; all of them are executed, or none. */
export const encodeBatch = (calls: Call[]): string =>
  delegate.encodeFunctionData('executeBatch', [calls.map(({ to, data }) => [to, 0n, data])])

/** Calls of a wallet under one key, and their gas limit. */
type Execution = { sender: string; key: string; callData: string; callGas: bigint }

/** A user operation with zero fees: the sender of its bundle pays the gas. */
export function buildUserOperation(execution: Execution): Omit<UserOperation, 'signature'> {
  const { sender, key, callData, callGas } = execution
  return {
    sender,
    nonce: nonceOf(key),
    initCode: DELEGATED,
    callData,
    accountGasLimits: toBeHex((VERIFICATION_GAS << 128n) | callGas, 32),
    preVerificationGas: '0x0',
    gasFees: toBeHex(0, 32),
    paymasterAndData: '0x',
  }
}

/** Gas limit of the calls of a user operation. */
export const callGasOf = ({ accountGasLimits }: Pick<UserOperation, 'accountGasLimits'>): bigint =>
  BigInt(accountGasLimits) & ((1n << 128n) - 1n)

const typedFields = {
  PackedUserOperation: [
    { name: 'sender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'initCode', type: 'bytes' },
    { name: 'callData', type: 'bytes' },
    { name: 'accountGasLimits', type: 'bytes32' },
    { name: 'preVerificationGas', type: 'uint256' },
    { name: 'gasFees', type: 'bytes32' },
    { name: 'paymasterAndData', type: 'bytes' },
  ],
}

/** EIP-712 data of a user operation. The hash contains the delegate's address instead of the marker. */
export function typedUserOperation(chainId: number, operation: Omit<UserOperation, 'signature'>) {
  return {
    domain: domainOf(chainId),
    types: typedFields,
    message: { ...operation, initCode: DELEGATE_ADDRESS },
  }
}

const domainOf = (chainId: number) => {
  return { name: 'ERC4337', version: '1', chainId, verifyingContract: ENTRY_POINT_ADDRESS }
}

/**
 * The hash that the wallet of a user operation signs, by EIP-712.
 *
 * @see https://eips.ethereum.org/EIPS/eip-712
 */
export function hashUserOperation(
  chainId: number,
  operation: Omit<UserOperation, 'signature'>,
): string {
  const { domain, types, message } = typedUserOperation(chainId, operation)
  return TypedDataEncoder.hash(domain, types, message)
}

export const encodeBundle = (operations: UserOperation[], beneficiary: string): string =>
  entryPoint.encodeFunctionData('handleOps', [operations, beneficiary])

/** The EntryPoint's event for an executed user operation. `key`: the high 192 bits of its nonce. */
type Executed = { sender: string; key: string; success: boolean; gasUsed: bigint }

/** Low bits of a nonce: the number of uses of its key. */
const COUNT_BITS = 64n
const KEY_BYTES = 24

/** Reads the log of a `UserOperationEvent`. */
export function readExecuted({ topics, data }: { topics: string[]; data: string }): Executed {
  const args = entryPoint.decodeEventLog('UserOperationEvent', data, topics)
  return {
    sender: String(args.sender),
    key: toBeHex((args.nonce as bigint) >> COUNT_BITS, KEY_BYTES),
    success: args.success === true,
    gasUsed: args.actualGasUsed as bigint,
  }
}

/** Execution gas of one user operation, as counted for a bundle's limit. */
export const bundledGas = (callGas: bigint) =>
  ((VERIFICATION_GAS + callGas) * 64n) / 63n + BOOKKEEPING_GAS

/** Gas limit of a transaction: base, authorizations, calldata, execution. */
export function gasLimitOf(data: string, authorizations: number, executionGas: bigint): bigint {
  return BASE_GAS + AUTHORIZATION_GAS * BigInt(authorizations) + calldataGas(data) + executionGas
}

/** @see https://eips.ethereum.org/EIPS/eip-2028 */
function calldataGas(data: string): bigint {
  let gas = 0
  // Read as text for speed: bundles are long.
  for (let i = 2; i < data.length; i += 2) gas += data[i] === '0' && data[i + 1] === '0' ? 4 : 16
  return BigInt(gas)
}
