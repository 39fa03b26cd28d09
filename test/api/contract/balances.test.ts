import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { callRpc } from '../../../devnet/rpc.js'
import { startChainWorld, type ChainWorld, type WalletBody } from '../chainWorld.js'
import { decimalText, integerText } from './formats.js'

type Token = { asset: string; balance: string; decimals: number; valueUsd: number }
type Entry = { chain: string; tokens: Token[] }
type Balances = { walletId: string; address: string; chains: Entry[]; totalValueUsd: number }

let world: ChainWorld
let wallet: WalletBody
let balances: Balances

/** 250.500001 USDC on one chain, 0.01 ETH on another, nothing on the third. */
beforeAll(async () => {
  world = await startChainWorld()
  wallet = await world.newWallet({ 'arbitrum-sepolia': 250_500_001n })
  const url = world.chains.urls['base-sepolia']
  await callRpc(url, 'anvil_setBalance', [wallet.address, toQuantity(10n ** 16n)])
  const { key } = world
  const { body } = await world.api.call('GET', `/v1/balances/${wallet.id}`, { key })
  balances = body as unknown as Balances
})
afterAll(() => world?.stop())

const tokensOn = (name: string) => balances.chains.find(({ chain }) => chain === name)?.tokens
const usdc = () => tokensOn('arbitrum-sepolia')?.[0]
const eth = () => tokensOn('base-sepolia')?.[0]

describe('Balances', () => {
  test('walletId: the id of the wallet', () => {
    expect(balances.walletId).toBe(wallet.id)
  })

  test('address: the address of the wallet', () => {
    expect(balances.address).toBe(wallet.address)
  })

  test('chains: one entry per chain, in any order', () => {
    const names = balances.chains.map(({ chain }) => chain).sort()
    expect(names).toEqual(['arbitrum-sepolia', 'base-sepolia', 'ethereum-sepolia'])
  })

  test('chains: an entry has `chain` (string) and `tokens` (array)', () => {
    for (const entry of balances.chains) {
      expect(entry).toEqual({ chain: expect.any(String), tokens: expect.any(Array) })
    }
  })

  test('chains: a chain with no funds has an empty `tokens` array', () => {
    expect(tokensOn('ethereum-sepolia')).toEqual([])
  })

  test('totalValueUsd: a number, the sum of USD value over all chains', () => {
    const values = balances.chains.flatMap(({ tokens }) => tokens.map(({ valueUsd }) => valueUsd))
    expect(values).toHaveLength(2)
    expect(balances.totalValueUsd).toBeCloseTo((values[0] ?? 0) + (values[1] ?? 0), 6)
  })
})

describe('Token entry of balances', () => {
  test('asset: the token symbol, a string: USDC and ETH', () => {
    expect([usdc()?.asset, eth()?.asset]).toEqual(['USDC', 'ETH'])
  })

  test('balance: the amount in minimal units, as integer text', () => {
    for (const token of [usdc(), eth()]) expect(token?.balance).toMatch(integerText)
    expect([usdc()?.balance, eth()?.balance]).toEqual(['250500001', '10000000000000000'])
  })

  test('balanceFormatted: the amount with decimals applied, as text', () => {
    for (const token of [usdc(), eth()]) {
      expect(token).toMatchObject({ balanceFormatted: expect.stringMatching(decimalText) })
    }
    expect(usdc()).toMatchObject({ balanceFormatted: '250.500001' })
    expect(eth()).toMatchObject({ balanceFormatted: '0.01' })
  })

  test('decimals: a number, 6 for USDC', () => {
    expect(usdc()?.decimals).toBe(6)
  })

  test('decimals: a number, 18 for ETH', () => {
    expect(eth()?.decimals).toBe(18)
  })

  test('valueUsd: a number, the USD value', () => {
    expect([usdc()?.valueUsd, eth()?.valueUsd]).toEqual([250.500001, 30])
  })
})
