import { HDNodeWallet, MaxUint256, concat, keccak256, zeroPadValue } from 'ethers'
import { chainNames, createRegistry, type ChainName } from '../../../evm/registry.js'
import { DEVNET_MNEMONIC } from '../anvil.js'
import { type OwnArtifacts } from './artifacts.js'
import { type Contract, type Plan } from './plan.js'

/** Last account of `devnetMnemonic` that anvil funds. It is an attester and receives the fees of fast transfers. */
export const ATTESTER_ADDRESS = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
/** In ascending order, which their signatures require. */
const attesters = [
  { address: ATTESTER_ADDRESS, path: `m/44'/60'/0'/0/9` },
  { address: '0xBcd4042DE499D14e55001CcbB24a551F3b954096', path: `m/44'/60'/0'/0/10` },
]

/** Base units of USDC that one burn may move, as on public networks. */
const BURN_LIMIT = 10_000_000_000_000n

/** All attesters. `attest` returns the attestation of a message, which concatenates the signature of each. */
export type AttesterKey = { attest(message: string): string }

/** Cached, because deriving the keys takes 40 ms. */
export function deriveAttesterKey(): AttesterKey {
  const keys = attesters.map(
    ({ path }) => HDNodeWallet.fromPhrase(DEVNET_MNEMONIC, undefined, path).signingKey,
  )
  return {
    attest(message) {
      const digest = keccak256(message)
      return concat(keys.map((key) => key.sign(digest).serialized))
    },
  }
}

export type CctpContracts = { messenger: Contract; transmitter: Contract }

/**
 * Plans the stand-ins for Circle's bridge, with the other chains of the devnet as peers. All chains plan it at the
 * same position, so the peers have the same addresses. Public networks do not require that.
 */
export function planCctp(
  plan: Plan,
  name: ChainName,
  own: OwnArtifacts,
  usdc: Contract,
): CctpContracts {
  const domainOf = (chain: ChainName) => createRegistry('testnet').get(chain).cctp.domain
  const args = [domainOf(name), attesters.map(({ address }) => address)]
  const transmitter = plan.deploy(own.DevCctpTransmitter, args)
  const messenger = plan.deploy(own.DevCctpMessenger, [transmitter.address, ATTESTER_ADDRESS])
  plan.call(usdc, 'configureMinter', [messenger.address, MaxUint256])
  plan.call(messenger, 'setMaxBurnAmountPerMessage', [usdc.address, BURN_LIMIT])
  for (const peer of chainNames.filter((other) => other !== name)) {
    const domain = domainOf(peer)
    const [remoteMessenger, remoteUsdc] = [messenger, usdc].map(wordOf)
    plan.call(messenger, 'addRemoteTokenMessenger', [domain, remoteMessenger])
    plan.call(messenger, 'linkTokenPair', [usdc.address, domain, remoteUsdc])
  }
  return { messenger, transmitter }
}

const wordOf = ({ address }: Contract) => zeroPadValue(address, 32)
