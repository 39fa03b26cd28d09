import { describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'ethers'
import { testnetContracts, type Contracts } from '../../evm/addresses.js'
import { createRegistry, findCanonicalName, type Chain } from '../../evm/registry.js'
import { placeholders } from '../planning/chains.js'

const { chains } = createRegistry('testnet')

/** Every address of a chain, at any depth. */
function addressesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('0x') ? [value] : []
  return typeof value === 'object' && value ? Object.values(value).flatMap(addressesIn) : []
}

const tokensOf = ({ usdc, otherTokens }: Chain) =>
  [usdc, ...otherTokens].map(({ address }) => address)

describe('findCanonicalName', () => {
  test('returns the chain of a name or an alias, in any case', () => {
    for (const { name, alias } of chains) {
      const texts = [name, alias, name.toUpperCase(), alias.toUpperCase()]
      expect(texts.map(findCanonicalName)).toEqual([name, name, name, name])
    }
    for (const text of ['', 'solana', 'base-', 'sepolia']) {
      expect(findCanonicalName(text)).toBeUndefined()
    }
  })
})

describe('the testnet', () => {
  test.each(chains.map((chain) => [chain.name, chain] as const))(
    '%s: every address has a valid checksum',
    (_name, chain) => {
      const addresses = addressesIn(chain)
      expect(addresses.length).toBeGreaterThan(5)
      for (const address of addresses) expect(getAddress(address)).toBe(address)
    },
  )

  test('the chains have the domains of CCTP', () => {
    const domains = chains.map(({ name, cctp }) => [name, cctp.domain])
    expect(Object.fromEntries(domains)).toEqual({
      ...{ 'ethereum-sepolia': 0, 'arbitrum-sepolia': 3, 'base-sepolia': 6 },
    })
  })

  test('a market accepts a token that its chain lists', () => {
    for (const chain of chains) {
      for (const { underlying } of chain.markets) expect(tokensOf(chain)).toContain(underlying)
    }
  })

  test('a vault is a market once its chain lists it', () => {
    const lendsTo = { pool: `0x${'0'.repeat(39)}2`, aToken: `0x${'0'.repeat(39)}3` }
    const address = `0x${'0'.repeat(39)}1`
    const contracts: Contracts = testnetContracts['base-sepolia']
    contracts.vaults = [{ address, lendsTo }]
    try {
      const { markets, usdc } = createRegistry('testnet').get('base-sepolia')
      const vault = { underlying: usdc.address, receiptToken: address, lendsTo }
      expect(markets).toContainEqual({ protocol: 'erc4626', address, ...vault })
    } finally {
      delete contracts.vaults
    }
  })

  test('only markets on base-sepolia are candidates', () => {
    const candidates = chains.flatMap(({ name, markets }) =>
      markets.filter(({ isCandidate }) => isCandidate).map(({ protocol }) => [name, protocol]),
    )
    expect(candidates).toEqual([
      ['base-sepolia', 'aave-v3'],
      ['base-sepolia', 'compound-v3'],
    ])
    const { markets, usdc } = createRegistry('testnet').get('base-sepolia')
    expect(markets.map(({ underlying }) => underlying)).toEqual([usdc.address, usdc.address])
  })

  test("USDC has Circle's signing domain on each chain", () => {
    const domains = chains.map(({ name, usdc }) => [name, usdc.eip712])
    expect(Object.fromEntries(domains)).toEqual({
      'ethereum-sepolia': { name: 'USDC', version: '2' },
      'arbitrum-sepolia': { name: 'USD Coin', version: '2' },
      'base-sepolia': { name: 'USDC', version: '2' },
    })
  })
})

describe('the devnet', () => {
  test.each([
    ['missing', undefined],
    ['incomplete', { ...placeholders, 'base-sepolia': {} }],
  ])('error: MISCONFIGURED when its file is %s', (_name, contracts) => {
    const folder = mkdtempSync(join(tmpdir(), 'steward-registry-'))
    const file = join(folder, 'devnet.json')
    if (contracts) writeFileSync(file, JSON.stringify(contracts))
    const error = { code: 'MISCONFIGURED', message: expect.stringContaining(file) as string }
    expect(() => createRegistry('devnet', file)).toThrow(expect.objectContaining(error))
    rmSync(folder, { recursive: true })
  })
})
