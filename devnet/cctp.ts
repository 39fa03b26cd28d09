import { HDNodeWallet, MaxUint256, zeroPadValue, type SigningKey } from 'ethers'
import { chainNames, createRegistry, type ChainName } from '../chains/registry.js'
import { DEVNET_MNEMONIC } from './anvil.js'
import { type OwnArtifacts } from './artifacts.js'
import { type Contract, type Plan } from './plan.js'

/**
 * Last account of `devnetMnemonic` that anvil gives ETH: signs attestations and is paid the fees of
 * fast transfers.
 */
export const ATTESTER_ADDRESS = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
const ATTESTER_PATH = `m/44'/60'/0'/0/9`

/** The key of `attesterAddress`. Deriving it takes 20 ms. */
export function deriveAttesterKey(): SigningKey {
  return HDNodeWallet.fromPhrase(DEVNET_MNEMONIC, undefined, ATTESTER_PATH).signingKey
}

export type Cctp = { messenger: Contract; transmitter: Contract }

/**
 * Plans the stand-ins for Circle's bridge, with the other chains of the devnet as peers. Planned at
 * the same place on every chain, the peers have the same addresses as here; on public networks they
 * need not.
 */
export function planCctp(plan: Plan, name: ChainName, own: OwnArtifacts, usdc: Contract): Cctp {
  const domainOf = (chain: ChainName) => createRegistry('testnet').get(chain).cctp.domain
  const args = [domainOf(name), ATTESTER_ADDRESS]
  const transmitter = plan.deploy(own.DevCctpTransmitter, args)
  const messenger = plan.deploy(own.DevCctpMessenger, [transmitter.address, ATTESTER_ADDRESS])
  plan.call(usdc, 'configureMinter', [messenger.address, MaxUint256])
  for (const peer of chainNames.filter((other) => other !== name)) {
    const domain = domainOf(peer)
    const [remoteMessenger, remoteUsdc] = [messenger, usdc].map(wordOf)
    plan.call(messenger, 'addRemoteTokenMessenger', [domain, remoteMessenger])
    plan.call(messenger, 'linkTokenPair', [usdc.address, domain, remoteUsdc])
  }
  return { messenger, transmitter }
}

const wordOf = ({ address }: Contract) => zeroPadValue(address, 32)
