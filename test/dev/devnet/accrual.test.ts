import { describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { planAccruals, writeStorage } from '../../../dev/devnet/accrual.js'
import { devnetOwner } from '../../../dev/devnet/deploy.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { takeDeployed } from '../../support/nodes.js'
import type { ChainName, DevnetContracts } from '../../../evm/registry.js'

const MONTH_SECONDS = 30 * 86_400
const token = new Interface([
  'function balanceOf(address holder) view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
])

async function read(url: string, to: string, name: string, arg: unknown): Promise<bigint> {
  const data = token.encodeFunctionData(name, [arg])
  const answer = await callRpc<string>(url, 'eth_call', [{ to, data }, 'latest'])
  return token.decodeFunctionResult(name, answer)[0] as bigint
}

const inAave = (url: string, { aToken }: DevnetContracts) =>
  read(url, aToken, 'balanceOf', devnetOwner)
const inComet = (url: string, { comet = '' }: DevnetContracts) =>
  read(url, comet, 'balanceOf', devnetOwner)
const inVault = (url: string, { vault = '' }: DevnetContracts) =>
  read(url, vault, 'convertToAssets', 10n ** 12n)

/** Percent per year, from the growth of a balance within a month. */
const yearly = (before: bigint, after: bigint) =>
  (Number(after - before) / Number(before)) * (365 / 30) * 100

describe('planAccruals', () => {
  test.each<[string, ChainName, typeof inAave, number]>([
    ['Aave on base', 'base-sepolia', inAave, 4.04],
    ['the vault on base', 'base-sepolia', inVault, 3.64],
    ['Aave on ethereum', 'ethereum-sepolia', inAave, 1.51],
    ['the Comet on ethereum', 'ethereum-sepolia', inComet, 1.24],
    ['Aave on arbitrum', 'arbitrum-sepolia', inAave, 3.45],
  ])('%s pays a month of its rate, and blocks keep their times', async (_, chain, balance, apr) => {
    const { node, contracts, release } = await takeDeployed(chain)
    const readHead = () =>
      callRpc<{ timestamp: string }>(node.url, 'eth_getBlockByNumber', ['latest', false])
    const [before, head] = [await balance(node.url, contracts), await readHead()]

    await writeStorage(node.url, await planAccruals(node.url, contracts, MONTH_SECONDS))

    expect(yearly(before, await balance(node.url, contracts))).toBeCloseTo(apr, 1)
    await callRpc(node.url, 'evm_mine')
    const passed = Number((await readHead()).timestamp) - Number(head.timestamp)
    expect(passed).toBeLessThan(MONTH_SECONDS)
    await release()
  })

  test('error: a market cannot be read, and nothing is written', async () => {
    const { node, contracts, release } = await takeDeployed('base-sepolia')
    const before = await inAave(node.url, contracts)
    const wrong = { ...contracts, comet: contracts.usdc }

    await expect(planAccruals(node.url, wrong, MONTH_SECONDS)).rejects.toThrow()

    expect(yearly(before, await inAave(node.url, contracts))).toBeCloseTo(0, 3)
    await release()
  })
})
