import { Interface, zeroPadValue } from 'ethers'
import { isSameAddress } from '../../evm/address.js'
import { failed, ok, type Probe, type CheckResult } from './look.js'
import type { Chain } from '../../evm/registry.js'

/** @see https://developers.circle.com/cctp/evm-smart-contracts TokenMessengerV2, MessageTransmitterV2 */
const messenger = new Interface([
  'function localMessageTransmitter() view returns (address)',
  'function remoteTokenMessengers(uint32) view returns (bytes32)',
])
const transmitter = new Interface(['function localDomain() view returns (uint32)'])

/** Checks Circle's contracts, and whether the contracts of the other chains are their peers. */
export async function checkBridge(probe: Probe): Promise<CheckResult[]> {
  const { chain, registry, read } = probe
  const { tokenMessenger, messageTransmitter, domain } = chain.cctp
  const [local, own] = await Promise.all([
    read({ to: messageTransmitter, abi: transmitter, name: 'localDomain' }),
    read({ to: tokenMessenger, abi: messenger, name: 'localMessageTransmitter' }),
  ])
  const rows = [
    local?.[0] === BigInt(domain)
      ? ok('MessageTransmitter', 'bridge', `is of domain ${domain}`)
      : failed(
          'MessageTransmitter',
          'bridge',
          `no MessageTransmitter of domain ${domain} at ${messageTransmitter}`,
        ),
    own && isSameAddress(String(own[0]), messageTransmitter)
      ? ok('TokenMessenger', 'bridge', 'is of the MessageTransmitter')
      : failed(
          'TokenMessenger',
          'bridge',
          `no TokenMessenger of that MessageTransmitter at ${tokenMessenger}`,
        ),
  ]
  // A missing contract has no peers.
  if (rows.some(({ outcome }) => outcome === 'failed')) return rows
  const others = registry.chains.filter(({ name }) => name !== chain.name)
  return [...rows, ...(await Promise.all(others.map((other) => checkPeer(probe, other))))]
}

/** Checks the peer on one other chain. The checks of that chain report a wrong contract there. */
async function checkPeer({ chain, read }: Probe, { name, cctp }: Chain): Promise<CheckResult> {
  const { tokenMessenger: to } = chain.cctp
  const args = [cctp.domain]
  const answer = await read({ to, abi: messenger, name: 'remoteTokenMessengers', args })
  const check = `bridge to ${name}`
  if (answer?.[0] === zeroPadValue(cctp.tokenMessenger, 32).toLowerCase()) {
    return ok(check, `bridge:${name}`, `domain ${cctp.domain} is its peer`)
  }
  const detail = `the bridge has no route from ${chain.name} to ${name}`
  return failed(check, `bridge:${name}`, detail)
}
