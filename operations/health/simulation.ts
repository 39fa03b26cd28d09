import { AbiCoder, Interface, Wallet, toQuantity } from 'ethers'
import { didAnswer, isRevert } from '../../evm/connect.js'
import { DELEGATED_CODE, DELEGATE_ADDRESS, ENTRY_POINT_ADDRESS } from '../../evm/registry.js'
import { failed, ok, warning, type Probe, type CheckResult } from './look.js'

/** Simple7702Account returns the EntryPoint whose calls it accepts. */
const account = new Interface(['function entryPoint() view returns (address)'])

/** Bytecode that always reverts: PUSH0 PUSH0 REVERT. */
const REVERTS = '0x5f5ffd'

const expected = AbiCoder.defaultAbiCoder().encode(['address'], [ENTRY_POINT_ADDRESS])

/**
 * Checks that the node simulates calls as the signer needs it: with overridden code of a delegated account, and with an
 * authorization in the call. Uses a random account. It cannot show that the network accepts such transactions.
 */
export async function checkSimulation(probe: Probe): Promise<CheckResult[]> {
  // Without the delegate contract a delegated account has no code to run.
  if (!probe.hasCode(DELEGATE_ADDRESS)) return []
  const signer = Wallet.createRandom()
  return Promise.all([
    checkOverrides(probe, signer.address),
    checkEstimates(probe, signer.address),
    checkAuthorizations(probe, signer),
  ])
}

async function checkOverrides({ client }: Probe, to: string): Promise<CheckResult> {
  const check = 'state overrides'
  const call = { to, data: account.encodeFunctionData('entryPoint') }
  const answer = await client
    .send<string>('eth_call', [call, 'latest', { [to]: { code: DELEGATED_CODE } }])
    .catch(refusal)
  if (answer === expected) return ok(check, 'chain', 'eth_call runs a delegated account')
  return failed(check, 'chain', 'the node cannot run calls with overridden code')
}

/** A node that ignores the override finds no code, and the call does not revert. */
async function checkEstimates({ client }: Probe, to: string): Promise<CheckResult> {
  const check = 'estimates'
  const call = { from: ENTRY_POINT_ADDRESS, to, data: '0x' }
  const override = { [to]: { code: REVERTS } }
  const answer = await client
    .send<string>('eth_estimateGas', [call, 'latest', override])
    .catch((error: unknown) => (isRevert(error) ? 'reverted' : refusal(error)))
  if (answer === 'reverted') return ok(check, 'chain', 'eth_estimateGas applies state overrides')
  return failed(check, 'chain', 'eth_estimateGas ignores state overrides')
}

async function checkAuthorizations(
  { client, chain }: Probe,
  signer: SigningWallet,
): Promise<CheckResult> {
  const check = 'type 4 calls'
  const { chainId } = chain
  const { signature } = signer.authorizeSync({ address: DELEGATE_ADDRESS, nonce: 0, chainId })
  const authorization = {
    ...{ chainId: toQuantity(chainId), address: DELEGATE_ADDRESS, nonce: '0x0' },
    ...{ yParity: toQuantity(signature.yParity), r: signature.r, s: signature.s },
  }
  const data = account.encodeFunctionData('entryPoint')
  const call = { type: '0x4', to: signer.address, data, authorizationList: [authorization] }
  const answer = await client.send<string>('eth_call', [call, 'latest']).catch(refusal)
  if (answer === expected) return ok(check, 'chain', 'eth_call applies authorizations')
  // The service does not depend on it.
  return warning(check, 'chain', 'eth_call ignores EIP-7702 authorizations')
}

type SigningWallet = ReturnType<typeof Wallet.createRandom>

/** Converts an error response of the node to undefined. Rethrows when the node did not answer. */
function refusal(error: unknown): undefined {
  if (!didAnswer(error)) throw error
}
