import { type Interface, type Result } from 'ethers'
import { isRevert, type ChainClient } from '../../evm/connect.js'
import { MULTICALL_ADDRESS, callTogether } from '../../evm/calls/multicall.js'
import {
  DELEGATE_ADDRESS,
  ENTRY_POINT_ADDRESS,
  tokensOf,
  type Chain,
  type Registry,
} from '../../evm/registry.js'
import type { Capability, Finding } from '../../domain/capability.js'

/** A call of a view function. */
export type Question = { to: string; abi: Interface; name: string; args?: unknown[] }

/** The inputs of the checks of one chain. */
export type Probe = {
  client: ChainClient
  chain: Chain
  registry: Registry
  hasCode(address: string): boolean
  codeAt(address: string): string
  /**
   * Calls a view function. Returns undefined when the address has no contract or another one.
   *
   * @throws {ServiceError} RPC_ERROR when the node does not answer.
   */
  read(question: Question): Promise<Result | undefined>
}

/** A finding without its chain. */
export type CheckResult = Omit<Finding, 'chain'>

export const ok = (check: string, capability: Capability, detail: string): CheckResult => ({
  ...{ check, capability, detail },
  outcome: 'ok',
})
export const warning = (check: string, capability: Capability, detail: string): CheckResult => ({
  ...{ check, capability, detail },
  outcome: 'warning',
})
export const failed = (check: string, capability: Capability, detail: string): CheckResult => ({
  ...{ check, capability, detail },
  outcome: 'failed',
})

/** Reads the code at all addresses of the chain's registry entry. */
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

/** All distinct addresses of the chain's registry entry. */
function addressesOf(chain: Chain): string[] {
  const { cctp, uniswap, markets, ethUsdFeed } = chain
  const addresses = [
    ...[MULTICALL_ADDRESS, ENTRY_POINT_ADDRESS, DELEGATE_ADDRESS],
    ...tokensOf(chain).map(({ address }) => address),
    ...markets.flatMap(({ address, underlying, receiptToken, lendsTo }) => [
      ...[address, underlying, receiptToken],
      ...(lendsTo ? [lendsTo.pool, lendsTo.aToken] : []),
    ]),
    ...[cctp.tokenMessenger, cctp.messageTransmitter, ethUsdFeed],
    ...(uniswap ? [uniswap.factory, uniswap.quoter, uniswap.router] : []),
  ]
  return [...new Set(addresses)]
}
