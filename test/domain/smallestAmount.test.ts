import { describe, expect, test } from 'vitest'
import { assertLargeEnough, type SmallestAmounts } from '../../domain/smallestAmount.js'
import { bridge, deposit, planOf, withdraw } from './plan/steps.js'
import type { IntentRequest } from '../../domain/intent/intent.js'

const usdc = 1_000_000n
const lend = (amountUnits: bigint): IntentRequest => ({
  action: 'lend',
  asset: 'USDC',
  amountUnits,
})
const smallest: SmallestAmounts = { arbitrum: 2n * usdc, base: 3n * usdc }

const refused = (least: string) =>
  expect.objectContaining({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining(`${least} USDC`) as string,
    details: expect.objectContaining({ reason: 'below_minimum', smallest: least }) as object,
  }) as Error

describe('assertLargeEnough', () => {
  test('error: INVALID_REQUEST when one base unit is missing', () => {
    const plan = planOf(deposit(1, 'arbitrum'))
    expect(() => assertLargeEnough(lend(2n * usdc - 1n), plan, smallest)).toThrow(refused('2'))
    assertLargeEnough(lend(2n * usdc), plan, smallest)
  })

  test('the highest amount of all chains of the plan counts', () => {
    const plan = planOf(bridge(1, 'arbitrum', 'base'), deposit(2, 'base'))
    expect(() => assertLargeEnough(lend(2n * usdc), plan, smallest)).toThrow(refused('3'))
    assertLargeEnough(lend(3n * usdc), plan, smallest)
  })

  test('gas: the amount is worth at least the gas of the plan', () => {
    const plan = { ...planOf(deposit(1, 'ethereum')), estimatedGasUsd: 0.7500005 }
    const byGas: SmallestAmounts = { ethereum: 'gas' }
    expect(() => assertLargeEnough(lend(750_000n), plan, byGas)).toThrow(refused('0.750001'))
    assertLargeEnough(lend(750_001n), plan, byGas)
    assertLargeEnough(lend(1n), { ...plan, estimatedGasUsd: null }, byGas)
  })

  test('a chain without an amount accepts any, and everything can be withdrawn anywhere', () => {
    assertLargeEnough(lend(1n), planOf(deposit(1, 'ethereum')), smallest)
    const all = { action: 'withdraw', asset: 'USDC', amountUnits: 'max', chain: 'base' } as const
    assertLargeEnough(all, planOf(withdraw(1, 'base')), smallest)
  })
})
