import { Wallet, hexlify, randomBytes } from 'ethers'
import { DELEGATE_ADDRESS, ENTRY_POINT_ADDRESS } from '../../../../evm/registry.js'
import {
  buildUserOperation,
  encodeBatch,
  encodeBundle,
  typedUserOperation,
  type UserOperation,
} from '../../../../evm/calls/userOperation.js'
import type { World } from '../fixture.js'

/** A foreign devnet account for which anvil signs. */
const stranger = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

type SignedPayload = { userOperation?: UserOperation; call?: { to: string; data: string } }

/** A foreign account has seen our bytes, and executes our signed operation first, in a block of its own. */
export async function executeFirst(world: World, operationId: string): Promise<string> {
  const row = await world.row(operationId)
  const signature = world.db('signature').where({ operation_id: operationId })
  await signature.update({ sent_at: world.db.raw('coalesce(sent_at, clock_timestamp())') })
  const { userOperation, call } = row?.payload as SignedPayload
  const { to, data } = call ?? {
    to: ENTRY_POINT_ADDRESS,
    data: encodeBundle(userOperation ? [userOperation] : [], stranger),
  }
  const transaction = { from: stranger, to, data, gas: '0x2dc6c0' }
  const hash = await world.rpc<string>('eth_sendTransaction', [transaction])
  await world.mine()
  return hash
}

/** Another account spends the same nonce key of the EntryPoint: keys are per account. */
export async function spendSameKey(world: World, key: string): Promise<void> {
  const { chainId } = world.chain
  const account = new Wallet(hexlify(randomBytes(32)))
  const payer = new Wallet(hexlify(randomBytes(32)))
  await world.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
  const draft = buildUserOperation({
    sender: account.address,
    key,
    callData: encodeBatch([]),
    callGas: 100_000n,
  })
  const typed = typedUserOperation(chainId, draft)
  const signature = await account.signTypedData(typed.domain, typed.types, typed.message)
  const raw = await payer.signTransaction({
    type: 4,
    chainId,
    nonce: 0,
    to: ENTRY_POINT_ADDRESS,
    data: encodeBundle([{ ...draft, signature }], payer.address),
    gasLimit: 1_000_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 9n,
    authorizationList: [account.authorizeSync({ address: DELEGATE_ADDRESS, nonce: 0, chainId })],
  })
  const hash = await world.rpc<string>('eth_sendRawTransaction', [raw])
  await world.mine()
  const receipt = await world.rpc<{ status: string }>('eth_getTransactionReceipt', [hash])
  if (receipt.status !== '0x1') throw new Error('The key was not spent.')
}
