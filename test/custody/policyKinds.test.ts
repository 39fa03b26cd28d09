import { describe, expect, test } from 'vitest'
import { MaxUint256, hexlify } from 'ethers'
import fc from 'fast-check'
import { assertAllowed } from '../../custody/policy.js'
import { defaultLimits } from '../../domain/limits.js'
import { holds } from '../domain/plan/holds.js'
import {
  isInPlan,
  orderOf,
  orders,
  temptations,
  thief,
  units,
  wallet,
  withWord,
  wordOf,
  type EncodedOrder,
} from './orders.js'
import type { Call } from '../../domain/intent/operation.js'

function passes({ allowance }: EncodedOrder, calls: Call[]): boolean {
  try {
    assertAllowed(calls, allowance)
    return true
  } catch (error) {
    const message = expect.stringMatching(/^Signing rejected: /)
    expect(error).toMatchObject({ code: 'INTERNAL', message })
    return false
  }
}

const cases = orders.map((order) => [order.name, order] as const)
const moving = ({ calls }: EncodedOrder) => calls.at(-1) as Call
const approve = (to: string, spender: string, value: bigint): Call => ({
  to,
  data: `0x095ea7b3${wordOf(spender)}${wordOf(value)}`,
})

describe.each(cases)('a %s', (_, order) => {
  const { calls, allowance } = order

  test('is allowed as its protocol encodes it', () => {
    expect(passes(order, calls)).toBe(true)
    expect(isInPlan(order, calls)).toBe(true)
  })

  test('error: at any other contract', () => {
    for (const to of [thief, wallet, allowance.token]) {
      expect(passes(order, [...calls.slice(0, -1), { ...moving(order), to }])).toBe(false)
    }
  })

  test('error: twice, because that exceeds the plan', () => {
    expect(passes(order, [...calls, ...calls])).toBe(false)
  })

  test('error: with too many or too few bytes', () => {
    const { to, data } = moving(order)
    for (const changed of [`${data}00`, data.slice(0, -2), `${data}${wordOf(0)}`]) {
      expect(passes(order, [...calls.slice(0, -1), { to, data: changed }])).toBe(false)
    }
  })

  test('error: next to a call that is not in the plan', () => {
    const transfer = `0xa9059cbb${wordOf(thief)}${wordOf(1n)}`
    for (const to of [allowance.token, allowance.contract]) {
      expect(passes(order, [...calls, { to, data: transfer }])).toBe(false)
      expect(passes(order, [...calls, { to, data: '0x' }])).toBe(false)
    }
  })

  test('approves only its own contract, and at most the amount of the plan', () => {
    const { token, contract } = allowance
    expect(passes(order, [approve(token, thief, 1n), ...calls])).toBe(false)
    expect(passes(order, [approve(token, contract, units + 1n), ...calls])).toBe(false)
    expect(passes(order, [approve(token, contract, MaxUint256), ...calls])).toBe(false)
    expect(passes(order, [approve(contract, contract, 1n), ...calls])).toBe(false)
  })
})

describe.each(orders.filter(({ allowance }) => allowance.kind === 'withdraw'))(
  'a $name',
  (order) => {
    test('approves nothing', () => {
      const { token, contract } = order.allowance
      expect(passes(order, [approve(token, contract, 1n), ...order.calls])).toBe(false)
    })
  },
)

/** The last call with another word. */
function withLast(calls: Call[], index: number, value: string | bigint): Call[] {
  const { to, data } = calls.at(-1) as Call
  const at = 10 + index * 64
  const changed = data.slice(0, at) + wordOf(value) + data.slice(at + 64)
  return [...calls.slice(0, -1), { to, data: changed }]
}

/** A word of the call that moves the money, and a forbidden value of it. */
const refusals: [order: string, why: string, word: number, value: string | bigint][] = [
  ['deposit into aave-v3', 'of another asset', 0, thief],
  ['deposit into aave-v3', 'above the plan', 1, units + 1n],
  ['deposit into aave-v3', 'for another owner', 2, thief],
  ['deposit into aave-v3', 'with a referral code', 3, 1n],
  ['deposit into erc4626', 'above the plan', 0, units + 1n],
  ['deposit into erc4626', 'for another owner', 1, thief],
  ['deposit into compound-v3', 'of another asset', 0, thief],
  ['deposit into compound-v3', 'above the plan', 1, units + 1n],
  ['withdrawal of a part from aave-v3', 'of another asset', 0, thief],
  ['withdrawal of a part from aave-v3', 'above the plan', 1, units + 1n],
  ['withdrawal of a part from aave-v3', 'of the whole position', 1, MaxUint256],
  ['withdrawal of a part from aave-v3', 'to another receiver', 2, thief],
  ['withdrawal of a part from erc4626', 'above the plan', 0, units + 1n],
  ['withdrawal of a part from erc4626', 'to another receiver', 1, thief],
  ['withdrawal of a part from erc4626', 'of shares of another owner', 2, thief],
  ['withdrawal of a part from compound-v3', 'of another asset', 0, thief],
  ['withdrawal of a part from compound-v3', 'above the plan', 1, units + 1n],
  ['withdrawal of a part from compound-v3', 'of the whole position', 1, MaxUint256],
  ['withdrawal of everything from aave-v3', 'of another asset', 0, thief],
  ['withdrawal of everything from aave-v3', 'of zero', 1, 0n],
  ['withdrawal of everything from aave-v3', 'to another receiver', 2, thief],
  ['withdrawal of everything from erc4626', 'of zero', 0, 0n],
  ['withdrawal of everything from erc4626', 'to another receiver', 1, thief],
  ['withdrawal of everything from erc4626', 'of shares of another owner', 2, thief],
  ['withdrawal of everything from compound-v3', 'of another asset', 0, thief],
  ['withdrawal of everything from compound-v3', 'of zero', 1, 0n],
  ['fast burn', 'of zero', 0, 0n],
  ['fast burn', 'above the plan', 0, units + 1n],
  ['fast burn', 'to another chain', 1, 0n],
  ['fast burn', 'for another receiver', 2, thief],
  ['fast burn', 'of another token', 3, thief],
  ['fast burn', 'that only another account may mint', 4, thief],
  ['fast burn', 'that only the wallet may mint, which sends nothing', 4, wallet],
  ['fast burn', 'whose fee is above the plan', 5, 2_001n],
  ['fast burn', 'that is slow', 6, 2_000n],
  ['standard burn', 'that is fast and costs more', 6, 1_000n],
  ['swap', 'of another token', 0, thief],
  ['swap', 'for another token', 1, thief],
  ['swap', 'for another receiver', 3, thief],
  ['swap', 'above the plan', 4, units + 1n],
  ['swap', 'of zero', 4, 0n],
  ['swap', 'through another pool', 2, 500n],
  ['swap', 'for less than the minimum of the plan', 5, 9_899_999n],
  ['swap', 'for nothing', 5, 0n],
  ['swap', 'that may end before all is swapped', 6, 1n],
]

describe('assertAllowed rejects', () => {
  test.each(refusals)('a %s %s', (name, _, word, value) => {
    const order = orderOf(name)
    expect(passes(order, withWord(order, word, value))).toBe(false)
  })

  test('shares, when only a part is withdrawn', () => {
    const part = orderOf('withdrawal of a part from erc4626')
    expect(passes(part, orderOf('withdrawal of everything from erc4626').calls)).toBe(false)
  })

  test.each([
    ['without its minimum of shares', (calls: Call[]) => calls.slice(0, -1)],
    ['with its minimum before the deposit', ([a, b, c]: Call[]) => [a, c, b] as Call[]],
    ['with a lower minimum', (calls: Call[]) => withLast(calls, 1, 1n)],
    ['with shares for another account', (calls: Call[]) => withLast(calls, 0, thief)],
  ])('a deposit into a vault %s', (_, change) => {
    const order = orderOf('deposit into erc4626')
    const changed = change(order.calls)
    expect(passes(order, changed)).toBe(false)
    expect(isInPlan(order, changed)).toBe(false)
  })

  test('a transfer of shares in any other operation', () => {
    const [, , transfer] = orderOf('deposit into erc4626').calls
    for (const order of orders.filter(({ name }) => name !== 'deposit into erc4626')) {
      expect(passes(order, [...order.calls, transfer as Call])).toBe(false)
    }
  })

  test('a swap with a minimum of zero, even if the plan allows it', () => {
    const swap = orderOf('swap')
    const allowance = { ...swap.allowance, minimumUnits: 0n }
    expect(passes({ ...swap, allowance }, withWord(swap, 5, 0n))).toBe(false)
  })

  test('every kind of call under the plan of another kind', () => {
    for (const order of orders) {
      const others = orders.filter(({ allowance }) => allowance.kind !== order.allowance.kind)
      for (const other of others) expect(passes(order, other.calls)).toBe(false)
    }
  })
})

test('rejects a part that is less than the plan', () => {
  const amounts: [string, number, bigint][] = [
    ['deposit into erc4626', 0, 1n],
    ['withdrawal of a part from compound-v3', 1, 1n],
    ['fast burn', 0, units / 2n],
    ['swap', 4, 9_900_000n],
  ]
  for (const [name, word, part] of amounts) {
    const order = orderOf(name)
    expect(passes(order, withWord(order, word, part))).toBe(false)
  }
})

describe('assertAllowed: limits that apply to any plan', () => {
  test.each([
    [9_900_000n, true],
    [9_899_999n, false],
    [1_000_000n, false],
    [10_100_000n, true],
    [10_100_001n, false],
  ])('a swap of 10,000,000 base units with a minimum of %d is allowed: %o', (least, isFair) => {
    const swap = orderOf('swap')
    const plan = { ...swap, allowance: { ...swap.allowance, minimumUnits: 1n } }
    expect(passes(plan, withWord(swap, 5, least))).toBe(isFair)
  })

  test.each([
    [20_000n, true],
    [20_001n, false],
    [9_999_999n, false],
  ])('a burn of 10,000,000 base units with a fee of at most %d is allowed: %o', (fee, isFair) => {
    const burn = orderOf('fast burn')
    const plan = { ...burn, allowance: { ...burn.allowance, maxFeeUnits: units } }
    expect(passes(plan, withWord(burn, 5, fee))).toBe(isFair)
  })

  test('measures the fee of a burn by the burned amount', () => {
    const burn = orderOf('fast burn')
    const burning = (part: bigint) => {
      const order = { ...burn, allowance: { ...burn.allowance, units: part } }
      return passes(order, withWord(order, 0, part).slice(-1))
    }
    expect(burning(1_000_000n)).toBe(true)
    expect(burning(999_499n)).toBe(false)
  })

  test('uses the limits of the deployment', () => {
    const swap = orderOf('swap')
    const limits = { ...defaultLimits, swapLossBps: 10n }
    const strict = { ...swap, allowance: { ...swap.allowance, limits } }
    expect(passes(strict, swap.calls)).toBe(false)
    expect(passes(strict, withWord(swap, 5, 9_990_000n))).toBe(true)
  })
})

type Change = (calls: Call[]) => Call[]

/** One mistake or attack in a list of calls. */
function changesOf({ calls }: EncodedOrder): fc.Arbitrary<Change> {
  const which = fc.nat(calls.length - 1)
  const edit = (edited: (one: Call) => Call, at: number) => (list: Call[]) =>
    list.map((one, i) => (i === at ? edited(one) : one))
  const digit = fc
    .tuple(which, fc.nat(600), fc.constantFrom(...'0123456789abcdef'))
    .map(([at, place, value]) => edit((one) => withDigit(one, place, value), at))
  const word = fc
    .tuple(which, fc.nat(7), fc.constantFrom(...temptations))
    .map(([at, place, value]) =>
      edit(
        ({ to, data }) => ({
          to,
          data: data.slice(0, 10 + place * 64) + wordOf(value) + data.slice(74 + place * 64),
        }),
        at,
      ),
    )
  const target = fc
    .tuple(which, fc.nat(39), fc.constantFrom(...'0123456789abcdef'))
    .map(([at, place, value]) =>
      edit(({ to, data }) => {
        const changed = to.slice(0, 2 + place) + value + to.slice(3 + place)
        return { to: changed.toLowerCase(), data }
      }, at),
    )
  const cut = fc
    .tuple(which, fc.integer({ min: 1, max: 200 }))
    .map(([at, size]) => edit(({ to, data }) => ({ to, data: data.slice(0, -size) }), at))
  const tail = fc
    .tuple(which, fc.uint8Array({ minLength: 1, maxLength: 64 }))
    .map(([at, more]) => edit(({ to, data }) => ({ to, data: data + hexlify(more).slice(2) }), at))
  const again = which.map((at) => (list: Call[]) => [...list, ...list.slice(at, at + 1)])
  return fc.oneof(digit, digit, word, word, target, cut, tail, again)
}

function withDigit({ to, data }: Call, place: number, value: string): Call {
  const at = 2 + (place % Math.max(data.length - 2, 1))
  return { to, data: data.slice(0, at) + value + data.slice(at + 1) }
}

test.each(cases)('assertAllowed allows exactly the plan, after any change: a %s', (_, order) => {
  holds(
    fc.property(fc.array(changesOf(order), { minLength: 1, maxLength: 3 }), (changes) => {
      const calls = changes.reduce((list, change) => change(list), order.calls)
      expect(passes(order, calls)).toBe(isInPlan(order, calls))
    }),
    150,
  )
})
