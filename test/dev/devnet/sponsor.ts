import { hexlify, Interface, randomBytes, TypedDataEncoder, Wallet } from 'ethers'
import { DELEGATE_ADDRESS, ENTRY_POINT_ADDRESS } from '../../../evm/registry.js'
import { readAccountArtifact } from '../../../dev/devnet/contracts/artifacts.js'
import { waitForReceipt, type DeployReceipt } from '../../../dev/devnet/contracts/plan.js'
import { callRpc } from '../../../dev/devnet/rpc.js'

type SponsorNode = { url: string; chainId: number }
type SponsoredCall = [target: string, valueWei: bigint, data: string]

const entryPoint = new Interface(readAccountArtifact('EntryPoint').abi)
const account = new Interface(readAccountArtifact('Simple7702Account').abi)

const operationType = [
  { name: 'sender', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'initCode', type: 'bytes' },
  { name: 'callData', type: 'bytes' },
  { name: 'accountGasLimits', type: 'bytes32' },
  { name: 'preVerificationGas', type: 'uint256' },
  { name: 'gasFees', type: 'bytes32' },
  { name: 'paymasterAndData', type: 'bytes' },
]

export async function waitForMined(url: string, hash: string): Promise<DeployReceipt> {
  const receipt = await waitForReceipt(url, hash, 5_000)
  if (!receipt) throw new Error(`${hash} is not mined.`)
  return receipt
}

/** A new random nonce key. */
export const createWallet = () => new Wallet(hexlify(randomBytes(32)))

/**
 * Executes calls of a wallet in one user operation without a fee, sent by an account with ETH. The same transaction
 * delegates the wallet's code.
 *
 * @returns Whether the calls succeeded, by EntryPoint's event.
 */
export async function sponsorCalls(
  node: SponsorNode,
  wallet: Wallet,
  calls: SponsoredCall[],
): Promise<boolean> {
  const { operation, hash } = await signOperation(node.chainId, wallet, calls)
  const payer = createWallet()
  const data = entryPoint.encodeFunctionData('handleOps', [[operation], payer.address])
  const receipt = await sendDelegating(node, wallet, payer, data)
  const event = receipt.logs.find(({ topics }) => topics[1] === hash)
  return event ? (entryPoint.parseLog(event)?.args.success as boolean) : false
}

async function signOperation(chainId: number, wallet: Wallet, calls: SponsoredCall[]) {
  const pair = (high: number, low: number) =>
    `0x${[high, low].map((part) => part.toString(16).padStart(32, '0')).join('')}`
  const operation = {
    sender: wallet.address,
    // A nonce key of its own, so that it is independent of other operations.
    nonce: BigInt(hexlify(randomBytes(24))) << 64n,
    initCode: `0x7702${'00'.repeat(18)}`,
    callData: account.encodeFunctionData('executeBatch', [calls]),
    accountGasLimits: pair(200_000, 800_000),
    preVerificationGas: 0,
    gasFees: pair(0, 0),
    paymasterAndData: '0x',
  }
  const domain = { name: 'ERC4337', version: '1', chainId, verifyingContract: ENTRY_POINT_ADDRESS }
  const types = { PackedUserOperation: operationType }
  // The signed operation contains the delegate's address where the sent one has the EIP-7702 marker.
  const signed = { ...operation, initCode: DELEGATE_ADDRESS }
  const signature = await wallet.signTypedData(domain, types, signed)
  const hash = TypedDataEncoder.hash(domain, types, signed)
  return { operation: { ...operation, signature }, hash }
}

async function sendDelegating(
  { url, chainId }: SponsorNode,
  wallet: Wallet,
  payer: Wallet,
  data: string,
) {
  await callRpc(url, 'anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
  const raw = await payer.signTransaction({
    type: 4,
    chainId,
    nonce: 0,
    to: ENTRY_POINT_ADDRESS,
    data,
    gasLimit: 2_000_000,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    authorizationList: [wallet.authorizeSync({ address: DELEGATE_ADDRESS, nonce: 0, chainId })],
  })
  return waitForMined(url, await callRpc<string>(url, 'eth_sendRawTransaction', [raw]))
}
