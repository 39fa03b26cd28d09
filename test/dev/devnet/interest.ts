import { Interface } from 'ethers'
import { devnetOwner } from '../../../dev/devnet/deploy.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import type { DevnetContracts } from '../../../evm/registry.js'

const token = new Interface([
  'function balanceOf(address holder) view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
])

async function read(url: string, to: string, name: string, arg: unknown): Promise<bigint> {
  const data = token.encodeFunctionData(name, [arg])
  const answer = await callRpc<string>(url, 'eth_call', [{ to, data }, 'latest'])
  return token.decodeFunctionResult(name, answer)[0] as bigint
}

/** Base units of the owner of the devnet. */
export const inAave = (url: string, { aToken }: DevnetContracts) =>
  read(url, aToken, 'balanceOf', devnetOwner)
export const inComet = (url: string, { comet = '' }: DevnetContracts) =>
  read(url, comet, 'balanceOf', devnetOwner)
export const inVault = (url: string, { vault = '' }: DevnetContracts) =>
  read(url, vault, 'convertToAssets', 10n ** 12n)

/** Percent per year, from the growth of a balance within 30 days. */
export const yearly = (before: bigint, after: bigint) =>
  (Number(after - before) / Number(before)) * (365 / 30) * 100
