import { describe, expect, test } from 'vitest'
import { moveAccruals, readAccruals } from '../../../dev/devnet/accrual.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { takeDeployed } from '../../support/nodes.js'
import { inAave, inComet, inVault, yearly } from './interest.js'
import type { ChainName } from '../../../evm/registry.js'

const MONTH_SECONDS = 30 * 86_400
const mark = `0x${'ab'.repeat(32)}`

describe('moveAccruals', () => {
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

    const accruals = await readAccruals(node.url, contracts)
    await moveAccruals(node.url, accruals, { seconds: MONTH_SECONDS, mark })

    expect(yearly(before, await balance(node.url, contracts))).toBeCloseTo(apr, 1)
    await callRpc(node.url, 'evm_mine')
    const passed = Number((await readHead()).timestamp) - Number(head.timestamp)
    expect(passed).toBeLessThan(MONTH_SECONDS)
    await release()
  })
})

describe('readAccruals', () => {
  test('error: a market cannot be read', async () => {
    const { node, contracts, release } = await takeDeployed('base-sepolia')
    const wrong = { ...contracts, comet: contracts.usdc }

    await expect(readAccruals(node.url, wrong)).rejects.toThrow()

    await release()
  })
})
