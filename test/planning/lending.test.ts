import { describe, expect, test } from 'vitest'
import { Interface, getAddress } from 'ethers'
import { aaveV3 } from '../../evm/lending/aaveV3.js'
import { apyPercent } from '../../evm/lending/apy.js'
import { assertAllowed } from '../../custody/policy.js'
import type { EventLog } from '../../evm/read.js'
import type { Market } from '../../evm/registry.js'

const account = (end: string) => getAddress(`0x${end.padStart(40, '0')}`)
const [wallet, stranger, otherToken] = [account('aa'), account('bb'), account('cc')]
const market: Market = {
  protocol: 'aave-v3',
  address: account('d1'),
  underlying: account('d2'),
  receiptToken: account('d3'),
}
const abi = new Interface([
  `event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,
    uint16 indexed referralCode)`,
  'event Other(uint256 amount)',
])

type Supply = { reserve?: string; user?: string; onBehalfOf?: string; from?: string }
function supplied(amount: bigint, its: Supply = {}): EventLog {
  const { reserve = market.underlying, user = wallet, onBehalfOf = wallet } = its
  const { from = market.address } = its
  const values = [reserve, user, onBehalfOf, amount, 0]
  return { ...place, address: from, ...abi.encodeEventLog('Supply', values) }
}
const place = { blockNumber: 1n, blockHash: '0x', transactionHash: '0x', logIndex: 0 }

describe('aaveV3.depositedUnits', () => {
  const count = (...logs: EventLog[]) => aaveV3.depositedUnits(market, wallet, logs)

  test('sums the deposits of the wallet for itself', () => {
    expect(count(supplied(3n), supplied(4n))).toBe(7n)
    expect(count()).toBe(0n)
    expect(count(supplied(3n, { from: market.address.toLowerCase() }))).toBe(3n)
  })

  test.each([
    ['a deposit by another wallet', { user: stranger }],
    ['a deposit for another wallet', { onBehalfOf: stranger }],
    ['another asset', { reserve: otherToken }],
    ['the same log of another contract', { from: stranger }],
  ])('does not count %s', (_title, its) => {
    expect(count(supplied(1n), supplied(100n, its))).toBe(1n)
  })

  test('ignores other events', () => {
    const other = { ...place, address: market.address, ...abi.encodeEventLog('Other', [9n]) }
    expect(count(other, supplied(2n))).toBe(2n)
  })
})

describe('aaveV3.encodeDeposit', () => {
  test('encodes a call that the policy allows, to the last unit', () => {
    const place = { wallet, token: market.underlying, contract: market.address, units: 5n }
    const allowance = { kind: 'deposit', ...place } as const
    assertAllowed(aaveV3.encodeDeposit(market, wallet, 5n), allowance)
    const more = aaveV3.encodeDeposit(market, wallet, 6n)
    expect(() => assertAllowed(more, allowance)).toThrow('Signing rejected')
  })
})

describe('apyPercent', () => {
  test('compounds a rate per second for a year', () => {
    expect(apyPercent(0)).toBe(0)
    expect(apyPercent(0.05 / 31_536_000)).toBeCloseTo(5.1271, 4)
  })
})
