import { MaxUint256, getAddress } from 'ethers'
import type { Allowance } from '../../custody/policy.js'
import type { Call } from '../../domain/intent/operation.js'
import { encodeBurn } from '../../evm/bridges/cctp/contracts.js'
import { lendingProtocol } from '../../evm/lending/markets.js'
import { encodeSwap } from '../../evm/swaps/uniswapV3.js'
import { createRegistry, type Market } from '../../evm/registry.js'
import { defaultLimits as limits } from '../../domain/limits.js'

/** An address that differs from all others. */
const account = (end: string) => getAddress(`0x${end.padStart(40, '0')}`)
const testnet = createRegistry('testnet')
const chain = testnet.get('arbitrum-sepolia')
const { usdc } = chain
const destination = testnet.get('base-sepolia')
const token = usdc.address

export const units = 10_000_000n
const maxFeeUnits = 2_000n
const minimumUnits = 9_900_000n
const leastShares = 8_765_432n
const destinationDomain = 6
export const thief = account('dd')
export const wallet = account('aa')
const contract = account('cc')
const tokenOut = account('ee')

/** Words of calldata: patterns of an address and of a number. */
export const wordOf = (value: string | bigint | number) =>
  typeof value === 'string'
    ? value.slice(2).toLowerCase().padStart(64, '0')
    : BigInt(value).toString(16).padStart(64, '0')

/** The allowed values of one word: exactly this one, or any that satisfies a rule. */
type Word = string | ((value: bigint) => boolean)
/** `moves`: which word counts as moved. Absent: the whole plan. Null: none. */
export type CallShape = {
  to: string
  selector: string
  words: Word[]
  moves?: number | null
  /** Conditions between words. */
  among?: (values: bigint[]) => boolean
}

/** Calls as the protocols' own code encodes them, the allowance of the plan, and the same rules stated by bytes. */
export type EncodedOrder = {
  name: string
  calls: Call[]
  allowance: Allowance
  shapes: CallShape[]
  /** Selector of the call that must be the last one, after the one that moves the money. Absent: any. */
  last?: string
}

const amount: Word = (value) => value > 0n && value <= units
const positive: Word = (value) => value > 0n

const approval = (spender: string): CallShape => ({
  ...{ to: token, selector: '095ea7b3', words: [wordOf(spender), amount], moves: null },
})
const call = (selector: string, words: Word[], moves?: number): CallShape => ({
  ...{ to: contract, selector, words },
  ...(moves === undefined ? {} : { moves }),
})

const [asset, own] = [wordOf(token), wordOf(wallet)]
const lending = (protocol: Market['protocol']) => {
  const market = { protocol, address: contract, underlying: token, receiptToken: account('ff') }
  return { market, encoder: lendingProtocol(market) }
}

function toDeposit(protocol: Market['protocol'], shape: CallShape): EncodedOrder {
  const { market, encoder } = lending(protocol)
  return {
    name: `deposit into ${protocol}`,
    calls: encoder.encodeDeposit(market, wallet, units),
    allowance: { kind: 'deposit', wallet, token, contract, units },
    shapes: [approval(contract), shape],
  }
}

/** A deposit into a vault, which ends with a transfer of the wallet's shares to itself. */
function toVaultDeposit(shape: CallShape): EncodedOrder {
  const order = toDeposit('erc4626', shape)
  const { market, encoder } = lending('erc4626')
  const demand = encoder.encodeLeastShares?.(market, wallet, leastShares)
  if (!demand) throw new Error('A vault has no minimum of shares.')
  const last = call('a9059cbb', [own, wordOf(leastShares)])
  return {
    ...order,
    calls: [...order.calls, demand],
    allowance: { ...order.allowance, leastShares } as Allowance,
    shapes: [...order.shapes, { ...last, moves: null }],
    last: 'a9059cbb',
  }
}

function toWithdrawal(
  protocol: Market['protocol'],
  everything: boolean,
  shapes: CallShape[],
): EncodedOrder {
  const { market, encoder } = lending(protocol)
  const withdrawal = everything ? { receiptUnits: 9_000_000n } : { units }
  return {
    name: `withdrawal of ${everything ? 'everything' : 'a part'} from ${protocol}`,
    calls: encoder.encodeWithdraw(market, wallet, withdrawal),
    allowance: { kind: 'withdraw', wallet, token, contract, units, everything },
    shapes,
  }
}

function toBurn(speed: 'fast' | 'standard', threshold: number): EncodedOrder {
  const { tokenMessenger } = chain.cctp
  const fee: Word = (value) => value <= maxFeeUnits
  const words = [amount, wordOf(destinationDomain), own, asset, wordOf(0), fee, wordOf(threshold)]
  // A five-hundredth of the amount, rounded up.
  const among = ([burned = 0n, , , , , paid = 0n]: bigint[]) => (paid - 1n) * 500n < burned
  const shape = { to: tokenMessenger, selector: '8e0250ee', words, moves: 0, among }
  return {
    name: `${speed} burn`,
    calls: encodeBurn(chain, { wallet, units, maxFeeUnits, destination, speed }),
    allowance: {
      ...{ kind: 'bridge', wallet, token, contract: tokenMessenger, units },
      ...{ finality: threshold, maxFeeUnits, destinationDomain, limits },
    },
    shapes: [approval(tokenMessenger), shape],
  }
}

function toSwap(): EncodedOrder {
  const to = { ...usdc, address: tokenOut }
  const minimum: Word = (value) => value >= minimumUnits
  const words = [asset, wordOf(tokenOut), wordOf(100), own, amount, minimum, wordOf(0)]
  // A minimum above 101 % of the input asks for a surplus.
  const among = ([, , , , unitsIn = 0n, least = 0n]: bigint[]) => least * 100n <= unitsIn * 101n
  return {
    name: 'swap',
    calls: encodeSwap(
      contract,
      { from: usdc, to, unitsIn: units },
      { wallet, fee: 100, minimumUnits },
    ),
    allowance: {
      ...{ kind: 'swap', wallet, token, contract, units, tokenOut, minimumUnits },
      ...{ poolFee: 100, limits },
    },
    shapes: [approval(contract), { ...call('04e45aaf', words, 4), among }],
  }
}

const partly = {
  'aave-v3': call('69328dec', [asset, amount, own], 1),
  erc4626: call('b460af94', [amount, own, own], 0),
  'compound-v3': call('f3fef3a3', [asset, amount], 1),
}

export const orders: EncodedOrder[] = [
  toDeposit('aave-v3', call('617ba037', [asset, amount, own, wordOf(0)], 1)),
  toVaultDeposit(call('6e553f65', [amount, own], 0)),
  toDeposit('compound-v3', call('f2b9fdb8', [asset, amount], 1)),
  toWithdrawal('aave-v3', false, [partly['aave-v3']]),
  toWithdrawal('erc4626', false, [partly.erc4626]),
  toWithdrawal('compound-v3', false, [partly['compound-v3']]),
  toWithdrawal('aave-v3', true, [call('69328dec', [asset, positive, own])]),
  toWithdrawal('erc4626', true, [call('ba087652', [positive, own, own]), partly.erc4626]),
  toWithdrawal('compound-v3', true, [call('f3fef3a3', [asset, positive])]),
  toBurn('fast', 1_000),
  toBurn('standard', 2_000),
  toSwap(),
]

/** The encoded order with this name. */
export function orderOf(name: string): EncodedOrder {
  const order = orders.find((candidate) => candidate.name === name)
  if (!order) throw new Error(`No order ${name}.`)
  return order
}

/** True when the calls match the plan, judged by bytes: an oracle that shares no code with the policy. */
export function isInPlan({ shapes, last }: EncodedOrder, calls: Call[]): boolean {
  if (last && !calls.at(-1)?.data.toLowerCase().startsWith(`0x${last}`)) return false
  const moved = calls.map((one) => shapes.map((shape) => movedBy(shape, one)).find(isNumber))
  const sum = moved.reduce<bigint>((total, part) => total + (part ?? 0n), 0n)
  return moved.every(isNumber) && sum === units
}

const isNumber = (value: bigint | undefined) => value !== undefined

function movedBy({ to, selector, words, moves, among }: CallShape, one: Call): bigint | undefined {
  const data = one.data.toLowerCase()
  const isShaped =
    one.to.toLowerCase() === to.toLowerCase() &&
    data.startsWith(`0x${selector}`) &&
    data.length === 10 + words.length * 64
  if (!isShaped) return undefined
  const actual = words.map((_, i) => data.slice(10 + i * 64, 74 + i * 64))
  const keeps = words.every((word, i) => {
    const text = actual[i] ?? ''
    return typeof word === 'string' ? word === text : word(BigInt(`0x${text}`))
  })
  if (!keeps || among?.(actual.map((text) => BigInt(`0x${text}`))) === false) return undefined
  if (moves === null) return 0n
  return moves === undefined ? units : BigInt(`0x${actual[moves] ?? '0'}`)
}

/** The call that moves the money, with one of its words replaced. */
export function withWord(
  { calls, last }: EncodedOrder,
  index: number,
  value: string | bigint,
): Call[] {
  const moving = calls.length - (last ? 2 : 1)
  return calls.map((one, i) => {
    if (i !== moving) return one
    const at = 10 + index * 64
    return { ...one, data: one.data.slice(0, at) + wordOf(value) + one.data.slice(at + 64) }
  })
}

/** Words that an attacker or a mistake would insert. */
export const temptations = [
  ...[thief, wallet, token, contract, tokenOut, 0n, 1n, units, units - 1n, units + 1n],
  ...[
    maxFeeUnits + 1n,
    minimumUnits - 1n,
    minimumUnits,
    2_000n,
    1_000n,
    500n,
    MaxUint256,
    2n ** 160n,
  ],
]
