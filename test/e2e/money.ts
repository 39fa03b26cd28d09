import { expect } from 'vitest'
import { chainNames } from '../../evm/registry.js'
import { balanceOf, read, readAccount, sum } from './balances.js'
import type { IntentResponse, Wallet, E2eWorld } from './world.js'

/** Markets round against the lender, by one or two units each time. Some seconds of interest are less. */
const ROUNDING_UNITS = 10n

/**
 * Checks that every received or `gained` unit of a wallet is in the wallet, in a market, in the bridge, or was paid
 * to bridge and pool as a fee. All amounts are read from the chains. Money that was never lent is counted exactly.
 *
 * @returns Base units in the bridge now.
 */
export async function expectConserved(
  world: E2eWorld,
  wallet: Wallet,
  gained = 0n,
): Promise<bigint> {
  const accounts = await Promise.all(
    chainNames.map(async (chain) => {
      const account = await readAccount(world.nodes[chain], wallet)
      expect(account.eth).toBe(0n)
      return account
    }),
  )
  const { inBridge, surplus } = balanceOf(accounts)
  expect(inBridge).toBeGreaterThanOrEqual(0n)
  const wasLent = await world
    .db('operation')
    .where({ wallet_id: wallet.id, kind: 'deposit', success: true })
    .first<object | undefined>('id')
  const slack = wasLent ? ROUNDING_UNITS : 0n
  const difference = surplus - gained
  expect(difference < 0n ? -difference : difference).toBeLessThanOrEqual(slack)
  return inBridge
}

/** USDC supply of all chains together. */
export async function readSupply({ nodes }: E2eWorld): Promise<bigint> {
  const supplies = chainNames.map((chain) =>
    read(nodes[chain], nodes[chain].contracts.usdc, 'totalSupply'),
  )
  return sum(await Promise.all(supplies))
}

/**
 * Checks the results of an intent against the chains: each transaction exists and succeeded, and the totals are the
 * sums of their parts.
 *
 * @param order - Kinds and chains of the operations, e.g. `bridge arbitrum-sepolia`.
 */
export async function expectTransactions(
  { nodes }: E2eWorld,
  { results }: IntentResponse,
  order: string[],
): Promise<void> {
  const { transactions, totalGasUsed, totalGasCostUsd } = results
  expect(transactions.map(({ type, chain }) => `${type} ${chain}`)).toEqual(order)
  for (const { txHash, chain, gasUsed, gasCostUsd } of transactions) {
    const receipt = await nodes[chain].provider.getTransactionReceipt(txHash)
    expect(receipt?.status).toBe(1)
    expect(BigInt(gasUsed)).toBeGreaterThan(0n)
    expect(gasCostUsd).toBeGreaterThan(0)
  }
  expect(totalGasUsed).toBe(sum(transactions.map(({ gasUsed }) => BigInt(gasUsed))).toString())
  const costs = transactions.reduce((usd, { gasCostUsd }) => usd + gasCostUsd, 0)
  expect(totalGasCostUsd).toBeCloseTo(costs, 6)
}
