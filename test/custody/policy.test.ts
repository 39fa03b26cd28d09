import { describe, expect, test } from 'vitest'
import { Interface, MaxUint256, getAddress, hexlify, randomBytes } from 'ethers'
import fc from 'fast-check'
import { assertAllowed, type Allowance } from '../../custody/policy.js'
import { holds } from '../domain/plan/holds.js'
import type { Call } from '../../domain/intent/operation.js'

const account = (end: string) => getAddress(`0x${end.padStart(40, '0')}`)
const allowance = {
  kind: 'deposit',
  wallet: account('aa'),
  token: account('bb'),
  contract: account('cc'),
  units: 10_000_000n,
} satisfies Allowance
const { wallet, token, contract: market, units } = allowance
const thief = account('dd')

const abi = new Interface([
  'function approve(address spender, uint256 amount)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function transfer(address to, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function withdraw(address asset, uint256 amount, address to)',
  'function borrow(address asset, uint256 amount, uint256 mode, uint16 code, address onBehalfOf)',
  'function execute(address to, uint256 value, bytes data)',
])
const encode = (to: string, name: string, args: unknown[]): Call => ({
  to,
  data: abi.encodeFunctionData(name, args),
})
const approve = (amount = units, spender = market) => encode(token, 'approve', [spender, amount])
const supply = (amount = units, owner = wallet) =>
  encode(market, 'supply', [token, amount, owner, 0])

const refused = (...calls: Call[]) => {
  expect(() => assertAllowed(calls, allowance)).toThrow(
    expect.objectContaining({
      code: 'INTERNAL',
      message: expect.stringMatching(/^Signing rejected: /),
    }),
  )
}

describe('assertAllowed', () => {
  test('allows the deposit of the plan', () => {
    expect(() => assertAllowed([approve(), supply()], allowance)).not.toThrow()
  })

  test('error: less than the plan', () => {
    refused(approve(1n), supply(1n))
    refused(approve(), supply(units - 1n))
  })

  test('compares addresses without regard to case', () => {
    const lower = { to: token.toLowerCase(), data: approve().data }
    expect(() => assertAllowed([lower, supply()], allowance)).not.toThrow()
  })

  test('error: no calls, and an approval without a deposit', () => {
    refused()
    refused(approve())
  })

  test('error: more than the plan, in one call or in several', () => {
    refused(approve(), supply(units + 1n))
    refused(approve(units + 1n), supply())
    refused(approve(MaxUint256), supply())
    refused(approve(), supply(), approve(1n), supply(1n))
    refused(approve(), supply(), approve(), supply())
  })

  test('error: an amount of zero', () => {
    refused(approve(0n), supply())
    refused(approve(), supply(0n))
  })

  test('error: another receiver, spender, asset or contract', () => {
    refused(approve(units, thief), supply())
    refused(approve(), supply(units, thief))
    refused(approve(), encode(market, 'supply', [thief, units, wallet, 0]))
    refused({ ...approve(), to: thief }, supply())
    refused(approve(), { ...supply(), to: thief })
    refused({ ...approve(), to: market }, supply())
    refused(approve(), { ...supply(), to: token })
  })

  test('error: a referral code', () => {
    refused(approve(), encode(market, 'supply', [token, units, wallet, 1]))
  })

  test.each([
    ['transfer', [wallet, 1n]],
    ['transferFrom', [wallet, thief, 1n]],
    ['withdraw', [token, 1n, wallet]],
    ['borrow', [token, 1n, 2n, 0, wallet]],
    ['execute', [token, 0n, '0x']],
  ] as const)('error: %s, also beside an allowed deposit', (name, args) => {
    for (const to of [token, market, wallet]) {
      refused(approve(), supply(), encode(to, name, [...args]))
    }
  })

  test.each(['', '0x', '0x09', 'hello', '0xzz'])('error: the calldata %j', (data) => {
    refused(supply(), { to: token, data })
  })

  test('error: truncated or extended calldata', () => {
    refused(approve(), { to: market, data: supply().data.slice(0, -2) })
    refused(approve(), { to: market, data: `${supply().data}00` })
    refused({ to: token, data: approve().data.slice(0, 74) }, supply())
  })

  test('names the violated rule', () => {
    expect(() => assertAllowed([approve(), supply(units, thief)], allowance)).toThrow(
      'Signing rejected: the deposit must belong to the wallet.',
    )
  })
})

const deposit = [approve(), supply()]

/** A call with one hex digit changed. */
type Mutation = { call: number; digit: number; value: string; inField: 'to' | 'data' }
const mutations = fc.record<Mutation>({
  call: fc.nat(1),
  digit: fc.nat(300),
  value: fc.constantFrom(...'0123456789abcdef'),
  inField: fc.constantFrom('to', 'data'),
})

function mutate(calls: Call[], { call, digit, value, inField }: Mutation): Call[] {
  return calls.map((original, index) => {
    if (index !== call) return original
    const text = original[inField]
    const at = 2 + (digit % (text.length - 2))
    return { ...original, [inField]: text.slice(0, at) + value + text.slice(at + 1) }
  })
}

/** The allowed calls, stated again by bytes: an oracle that shares no code with the policy. */
const word = (address: string) => address.slice(2).toLowerCase().padStart(64, '0')
const approval = new RegExp(`^${token} 0x095ea7b3${word(market)}([0-9a-f]{64})$`, 'i')
const noReferral = '0'.repeat(64)
const deposited = new RegExp(
  `^${market} 0x617ba037${word(token)}([0-9a-f]{64})${word(wallet)}${noReferral}$`,
  'i',
)

function isInPlan(calls: Call[]): boolean {
  const texts = calls.map(({ to, data }) => `${to} ${data}`)
  const amountsOf = (pattern: RegExp) =>
    texts.flatMap((text) => pattern.exec(text)?.[1] ?? []).map((hex) => BigInt(`0x${hex}`))
  const [approved, supplied] = [amountsOf(approval), amountsOf(deposited)]
  const all = [...approved, ...supplied]
  const spent = supplied.reduce((sum, amount) => sum + amount, 0n)
  const known = all.length === calls.length
  return known && all.every((n) => n > 0n && n <= units) && spent === units
}

const passes = (calls: Call[]): boolean => {
  try {
    assertAllowed(calls, allowance)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'INTERNAL' })
    return false
  }
}

describe('assertAllowed, fuzzed', () => {
  test('allows exactly the plan: changed digits', () => {
    holds(
      fc.property(fc.array(mutations, { minLength: 1, maxLength: 3 }), (changes) => {
        const calls = changes.reduce(mutate, deposit)
        expect(passes(calls)).toBe(isInPlan(calls))
      }),
      500,
    )
  })

  test('allows exactly the plan: other arguments', () => {
    const addresses = fc.constantFrom(wallet, token, market, thief, hexlify(randomBytes(20)))
    const amounts = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n * units }),
      fc.constantFrom(1n, units, units + 1n, MaxUint256),
    )
    const someCalls = fc.oneof(
      fc.tuple(addresses, addresses, amounts).map(([to, a, n]) => encode(to, 'approve', [a, n])),
      fc
        .tuple(addresses, addresses, amounts, addresses)
        .map(([to, a, n, b]) => encode(to, 'supply', [a, n, b, 0])),
      amounts.map((n) => approve(n)),
      amounts.map((n) => supply(n)),
    )
    holds(
      fc.property(fc.array(someCalls, { maxLength: 4 }), (calls) => {
        expect(passes(calls)).toBe(isInPlan(calls))
      }),
      500,
    )
  })

  test('error: random bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 200 })
    holds(
      fc.property(bytes, fc.constantFrom(token, market), (data, to) => {
        expect(passes([...deposit, { to, data: hexlify(data) }])).toBe(false)
      }),
      300,
    )
  })
})
