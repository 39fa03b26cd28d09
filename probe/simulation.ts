import { AbiCoder, Interface, Wallet, toQuantity } from 'ethers'
import { didAnswer, isRevert } from '../chains/connect.js'
import { DELEGATED_CODE, DELEGATE_ADDRESS, ENTRY_POINT_ADDRESS } from '../chains/registry.js'
import { failed, ok, warning, type Probe, type Row } from './look.js'

/** Simple7702Account tells whose calls it takes. */
const account = new Interface(['function entryPoint() view returns (address)'])

/** A contract that reverts whatever it is asked: PUSH0 PUSH0 REVERT. */
const REVERTS = '0x5f5ffd'

const expected = AbiCoder.defaultAbiCoder().encode(['address'], [ENTRY_POINT_ADDRESS])

/**
 * Whether the node runs calls as the signer asks it to, shown on an account that nobody has: with the code of a
 * delegated account put in place, and with an authorization in the call. What a node that is asked cannot show is
 * that its network mines such transactions.
 */
export async function checkSimulation(probe: Probe): Promise<Row[]> {
  // Without the delegate an account that is delegated to it has nothing to say.
  if (!probe.hasCode(DELEGATE_ADDRESS)) return []
  const nobody = Wallet.createRandom()
  return Promise.all([
    checkOverrides(probe, nobody.address),
    checkEstimates(probe, nobody.address),
    checkAuthorizations(probe, nobody),
  ])
}

async function checkOverrides({ client }: Probe, to: string): Promise<Row> {
  const check = 'state overrides'
  const call = { to, data: account.encodeFunctionData('entryPoint') }
  const answer = await client
    .send<string>('eth_call', [call, 'latest', { [to]: { code: DELEGATED_CODE } }])
    .catch(refusal)
  if (answer === expected) return ok(check, 'chain', 'eth_call runs a delegated account')
  return failed(check, 'chain', 'the node cannot run a call with the code of a delegated account')
}

/** A node that ignores the override finds nothing that could revert. */
async function checkEstimates({ client }: Probe, to: string): Promise<Row> {
  const check = 'estimates'
  const call = { from: ENTRY_POINT_ADDRESS, to, data: '0x' }
  const override = { [to]: { code: REVERTS } }
  const answer = await client
    .send<string>('eth_estimateGas', [call, 'latest', override])
    .catch((error: unknown) => (isRevert(error) ? 'reverted' : refusal(error)))
  if (answer === 'reverted') return ok(check, 'chain', 'eth_estimateGas heeds state overrides')
  return failed(check, 'chain', 'the node does not estimate gas with state overrides')
}

async function checkAuthorizations({ client, chain }: Probe, nobody: SigningWallet): Promise<Row> {
  const check = 'type 4 calls'
  const { chainId } = chain
  const { signature } = nobody.authorizeSync({ address: DELEGATE_ADDRESS, nonce: 0, chainId })
  const authorization = {
    ...{ chainId: toQuantity(chainId), address: DELEGATE_ADDRESS, nonce: '0x0' },
    ...{ yParity: toQuantity(signature.yParity), r: signature.r, s: signature.s },
  }
  const data = account.encodeFunctionData('entryPoint')
  const call = { type: '0x4', to: nobody.address, data, authorizationList: [authorization] }
  const answer = await client.send<string>('eth_call', [call, 'latest']).catch(refusal)
  if (answer === expected) return ok(check, 'chain', 'eth_call heeds authorizations')
  // Nothing that the service asks of a node depends on it.
  return warning(check, 'chain', 'the node does not show that it knows EIP-7702 transactions')
}

type SigningWallet = ReturnType<typeof Wallet.createRandom>

/** Undefined for a node that says no, or that the call fails. One that is silent tells nothing. */
function refusal(error: unknown): undefined {
  if (!didAnswer(error)) throw error
}
