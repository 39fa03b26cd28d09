import { type Interface, type Result } from 'ethers'
import { isRevert, type ChainClient } from '../chains/connect.js'
import { MULTICALL_ADDRESS, callTogether } from '../chains/multicall.js'
import {
  DELEGATE_ADDRESS,
  ENTRY_POINT_ADDRESS,
  tokensOf,
  type Chain,
  type Registry,
} from '../chains/registry.js'
import type { Capability, Finding } from '../domain/capability.js'

/** A view function to be asked. */
export type Question = { to: string; abi: Interface; name: string; args?: unknown[] }

/** What the checks of one chain work with. */
export type Probe = {
  client: ChainClient
  chain: Chain
  registry: Registry
  hasCode(address: string): boolean
  codeAt(address: string): string
  /**
   * The results of a view function; undefined when there is no such contract, or another one.
   *
   * @throws {ServiceError} RPC_ERROR when the node does not answer, which tells nothing of the contract.
   */
  read(question: Question): Promise<Result | undefined>
}

/** A row of the report. */
export type Row = Omit<Finding, 'chain'>

export const ok = (check: string, capability: Capability, detail: string): Row => ({
  ...{ check, capability, detail },
  outcome: 'ok',
})
export const warning = (check: string, capability: Capability, detail: string): Row => ({
  ...{ check, capability, detail },
  outcome: 'warning',
})
export const failed = (check: string, capability: Capability, detail: string): Row => ({
  ...{ check, capability, detail },
  outcome: 'failed',
})

/** Reads which code is where. */
export async function openProbe(client: ChainClient, registry: Registry): Promise<Probe> {
  const { chain } = client
  const addresses = addressesOf(chain)
  const codes = await Promise.all(
    addresses.map((address) => client.send<string>('eth_getCode', [address, 'latest'])),
  )
  const codeOf = new Map(addresses.map((address, i) => [address, codes[i] ?? '0x']))
  const codeAt = (address: string) => codeOf.get(address) ?? '0x'
  return {
    ...{ client, chain, registry, codeAt },
    hasCode: (address) => codeAt(address) !== '0x',
    async read({ to, abi, name, args = [] }) {
      const data = abi.encodeFunctionData(name, args)
      const answer = await callTogether(client, { to, data }, 'latest').catch((error: unknown) => {
        if (isRevert(error)) return '0x'
        throw error
      })
      try {
        return abi.decodeFunctionResult(name, answer)
      } catch {
        return undefined
      }
    },
  }
}

/** Every address of the registry's chain, once. */
function addressesOf(chain: Chain): string[] {
  const { cctp, uniswap, markets, ethUsdFeed } = chain
  const places = [
    ...[MULTICALL_ADDRESS, ENTRY_POINT_ADDRESS, DELEGATE_ADDRESS],
    ...tokensOf(chain).map(({ address }) => address),
    ...markets.flatMap(({ address, underlying, receiptToken, lendsTo }) => [
      ...[address, underlying, receiptToken],
      ...(lendsTo ? [lendsTo.pool, lendsTo.aToken] : []),
    ]),
    ...[cctp.tokenMessenger, cctp.messageTransmitter, ethUsdFeed],
    ...(uniswap ? [uniswap.factory, uniswap.quoter, uniswap.router] : []),
  ]
  return [...new Set(places)]
}
