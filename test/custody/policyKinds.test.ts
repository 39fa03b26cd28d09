import { describe, expect, test } from '@jest/globals'
import { Interface, MaxUint256, ZeroAddress, getAddress, zeroPadValue } from 'ethers'
import fc from 'fast-check'
import { assertAllowed, type Allowance } from '../../custody/policy.js'
import { holds } from '../domain/holds.js'
import { isInPlan, type Plan } from './planOracle.js'
import type { Call } from '../../domain/operation.js'

const account = (end: string) => getAddress(`0x${end.padStart(40, '0')}`)
const [wallet, token, contract, tokenOut] = ['aa', 'bb', 'cc', 'ee'].map(account) as [
  string,
  string,
  string,
  string,
]
const thief = account('dd')
const units = 10_000_000n
const base = { wallet, token, contract, units }
const word = (address: string) => zeroPadValue(address, 32)

const abi = new Interface([
  'function approve(address spender, uint256 amount)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function supply(address asset, uint256 amount)',
  'function deposit(uint256 assets, address receiver)',
  'function withdraw(address asset, uint256 amount, address to)',
  'function withdraw(uint256 assets, address receiver, address owner)',
  'function withdraw(address asset, uint256 amount)',
  'function redeem(uint256 shares, address receiver, address owner)',
  `function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient,
    address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)`,
  `function depositForBurnWithHook(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient,
    address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold,
    bytes hookData)`,
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)`,
  'function transfer(address to, uint256 amount)',
  'function increaseAllowance(address spender, uint256 amount)',
  'function multicall(bytes[] data)',
])
const encode = (name: string, args: unknown[], to = contract): Call => ({
  to,
  data: abi.encodeFunctionData(name, args),
})
const approve = (amount = units, spender = contract, to = token) =>
  encode('approve', [spender, amount], to)

const aaveSupply = 'supply(address,uint256,address,uint16)'
const cometSupply = 'supply(address,uint256)'
const aaveOut = 'withdraw(address,uint256,address)'
const vaultOut = 'withdraw(uint256,address,address)'
const cometOut = 'withdraw(address,uint256)'

const burnArguments = [units, 6, word(wallet), token, word(ZeroAddress), 1_200n, 1_000]
const swapArguments = [token, tokenOut, 100, wallet, units, 9_900_000n, 0]
const burn = (...changes: [number, unknown][]) =>
  encode('depositForBurn', changed(burnArguments, changes))
const swap = (...changes: [number, unknown][]) =>
  encode('exactInputSingle', [changed(swapArguments, changes)])
const changed = (args: unknown[], changes: [number, unknown][]) =>
  args.map((value, i) => changes.find(([at]) => at === i)?.[1] ?? value)

/** Each kind: what the plan allows, the calls that carry it out, and other calls with their arguments. */
const deposit = { ...base, kind: 'deposit' } as const
const partly = { ...base, kind: 'withdraw', everything: false } as const
const everything = { ...base, kind: 'withdraw', everything: true } as const
const bridge = {
  ...base,
  kind: 'bridge',
  destinationDomain: 6,
  maxFeeUnits: 1_200n,
  finalityThreshold: 1_000,
} as const
const exchange = { ...base, kind: 'swap', tokenOut, minimumUnits: 9_900_000n } as const

type Case = [title: string, allowance: Allowance & Plan, calls: Call[]]
const cases: Case[] = [
  ['deposit in Aave', deposit, [approve(), encode(aaveSupply, [token, units, wallet, 0])]],
  ['deposit in a vault', deposit, [approve(), encode('deposit', [units, wallet])]],
  ['deposit in a Comet', deposit, [approve(), encode(cometSupply, [token, units])]],
  ['withdraw from Aave', partly, [encode(aaveOut, [token, units, wallet])]],
  ['withdraw from a vault', partly, [encode(vaultOut, [units, wallet, wallet])]],
  ['withdraw from a Comet', partly, [encode(cometOut, [token, units])]],
  ['everything out of Aave', everything, [encode(aaveOut, [token, MaxUint256, wallet])]],
  ['everything out of a vault', everything, [encode('redeem', [units * 5n, wallet, wallet])]],
  ['everything out of a Comet', everything, [encode(cometOut, [token, MaxUint256])]],
  ['bridge', bridge, [approve(), burn()]],
  ['swap', exchange, [approve(), swap()]],
]

function passes(calls: Call[], allowance: Allowance): boolean {
  try {
    assertAllowed(calls, allowance)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'INTERNAL' })
    return false
  }
}
const refuses = (allowance: Allowance, ...calls: Call[]) => {
  expect(passes(calls, allowance)).toBe(false)
}

describe.each(cases)('%s', (_title, allowance, calls) => {
  const [last] = calls.slice(-1) as [Call]

  test('passes as planned, and only in the kind of the plan', () => {
    expect(passes(calls, allowance)).toBe(true)
    for (const [, other] of cases) {
      if (other.kind !== allowance.kind) refuses(other, ...calls)
    }
  })

  test('is refused twice, on another contract, and for another wallet or token', () => {
    refuses(allowance, ...calls, ...calls)
    for (const to of [wallet, token, thief])
      refuses(allowance, ...calls.slice(0, -1), { ...last, to })
    for (const change of [{ wallet: thief }, { token: thief }, { contract: thief }]) {
      const isNamed = 'token' in change ? last.data.includes(token.slice(2).toLowerCase()) : true
      const isWalletNamed = last.data.includes(wallet.slice(2).toLowerCase())
      if ('wallet' in change && !isWalletNamed) continue
      if (isNamed) refuses({ ...allowance, ...change }, ...calls)
    }
  })

  test('is refused with bytes cut off or put on, and with an unknown call beside it', () => {
    refuses(allowance, ...calls.slice(0, -1), { ...last, data: `${last.data}00` })
    refuses(allowance, ...calls.slice(0, -1), { ...last, data: last.data.slice(0, -2) })
    const unknown = [
      encode('transfer', [thief, 1n], token),
      encode('transfer', [wallet, 1n], token),
      encode('increaseAllowance', [contract, 1n], token),
      encode('multicall', [[last.data]]),
      encode('depositForBurnWithHook', [...burnArguments, '0x01']),
      { to: contract, data: '0x' },
      { to: wallet, data: '0x12345678' },
    ]
    for (const call of unknown) {
      refuses(allowance, ...calls, call)
      refuses(allowance, call, ...calls)
    }
  })

  test('passes exactly what is in the plan: changed digits', () => {
    const change = fc.record({
      call: fc.nat(calls.length - 1),
      digit: fc.nat(600),
      value: fc.constantFrom(...'0123456789abcdef'),
      field: fc.constantFrom('to' as const, 'data' as const),
    })
    holds(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const mutated = calls.map((call) => ({ ...call }))
        for (const { call, digit, value, field } of changes) {
          const target = mutated[call] as Call
          const at = 2 + (digit % (target[field].length - 2))
          target[field] = target[field].slice(0, at) + value + target[field].slice(at + 1)
        }
        expect(passes(mutated, allowance)).toBe(isInPlan(mutated, allowance))
      }),
      400,
    )
  })
})

test('passes exactly what is in the plan: any known calls with any arguments', () => {
  const address = fc.constantFrom(wallet, token, contract, tokenOut, thief)
  const amount = fc.constantFrom(0n, 1n, units / 2n, units, units + 1n, MaxUint256)
  const domain = fc.constantFrom(0, 3, 6)
  const caller = fc.constantFrom(ZeroAddress, wallet, thief).map(word)
  const fee = fc.constantFrom(0n, 1_200n, 1_201n)
  const pace = fc.constantFrom(500, 1_000, 2_000)
  const minimum = fc.constantFrom(0n, 1n, 9_899_999n, 9_900_000n, units)
  const known: Record<string, fc.Arbitrary<unknown>[]> = {
    approve: [address, amount],
    [aaveSupply]: [address, amount, address, fc.constantFrom(0, 1)],
    [cometSupply]: [address, amount],
    deposit: [amount, address],
    [aaveOut]: [address, amount, address],
    [vaultOut]: [amount, address, address],
    [cometOut]: [address, amount],
    redeem: [amount, address, address],
    depositForBurn: [amount, domain, address.map(word), address, caller, fee, pace],
    exactInputSingle: [
      fc.tuple(address, address, fc.constantFrom(100, 500), address, amount, minimum, fee),
    ],
  }
  const call = fc
    .constantFrom(...Object.keys(known))
    .chain((name) =>
      fc
        .tuple(fc.tuple(...(known[name] ?? [])), fc.constantFrom(contract, token, thief))
        .map(([args, to]) => encode(name, args, to)),
    )
  const planned = fc.constantFrom(...cases.flatMap(([, , calls]) => calls))
  const calls = fc.array(fc.oneof(call, planned, planned), { maxLength: 3 })
  const allowance = fc.constantFrom(...cases.map(([, one]) => one))
  holds(
    fc.property(calls, allowance, (some, one) => {
      expect(passes(some, one)).toBe(isInPlan(some, one))
    }),
    4_000,
  )
})

describe('a withdrawal', () => {
  test('approves nothing', () => {
    for (const [, allowance, calls] of cases) {
      if (allowance.kind === 'withdraw') refuses(allowance, approve(), ...calls)
    }
  })

  test('of a part redeems no shares and takes no more than the plan', () => {
    refuses(partly, encode('redeem', [1n, wallet, wallet]))
    refuses(partly, encode(aaveOut, [token, MaxUint256, wallet]))
    refuses(partly, encode(cometOut, [token, MaxUint256]))
    refuses(partly, encode(vaultOut, [units + 1n, wallet, wallet]))
    refuses(partly, encode(cometOut, [token, units]), encode(cometOut, [token, 1n]))
  })

  test('goes to the wallet, and out of its own shares', () => {
    for (const allowance of [partly, everything]) {
      refuses(allowance, encode(aaveOut, [token, units, thief]))
      refuses(allowance, encode(vaultOut, [units, thief, wallet]))
      refuses(allowance, encode(vaultOut, [units, wallet, thief]))
    }
    refuses(everything, encode('redeem', [units, thief, wallet]))
    refuses(everything, encode('redeem', [units, wallet, thief]))
    refuses(everything, encode(aaveOut, [token, 0n, wallet]))
  })
})

describe('a burn', () => {
  test.each([
    ['of more than the plan', 0, units + 1n],
    ['of nothing', 0, 0n],
    ['to another chain', 1, 3],
    ['for another account', 2, word(thief)],
    ['for an account behind dirty bytes', 2, `0x01${word(wallet).slice(4)}`],
    ['of another token', 3, tokenOut],
    ['that only one may mint', 4, word(thief)],
    ['that only the wallet may mint', 4, word(wallet)],
    ['for a higher fee', 5, 1_201n],
    ['that is slower', 6, 2_000],
  ])('%s is refused', (_title, at, value) => {
    refuses(bridge, approve(), burn([at, value]))
  })

  test('of less, or for a lower fee, passes', () => {
    expect(passes([approve(5n), burn([0, 5n], [5, 0n])], bridge)).toBe(true)
  })
})

describe('a swap', () => {
  test.each([
    ['of another token', 0, tokenOut],
    ['to another token', 1, token],
    ['for another account', 3, thief],
    ['for the router itself', 3, contract],
    ['of more than the plan', 4, units + 1n],
    ['for less than the minimum', 5, 9_899_999n],
    ['that stops at a price', 6, 1n],
  ])('%s is refused', (_title, at, value) => {
    refuses(exchange, approve(), swap([at, value]))
  })

  test('without a minimum is refused, whatever the plan says', () => {
    refuses({ ...exchange, minimumUnits: 0n }, approve(), swap([5, 0n]))
  })

  test('through another tier passes: the minimum bounds it', () => {
    expect(passes([approve(), swap([2, 500])], exchange)).toBe(true)
  })
})
