import { Interface, zeroPadValue } from 'ethers'
import { ServiceError } from '../domain/errors.js'
import { leastOutput, mostFee, mostOutput, type PriceLimits } from '../domain/limits.js'
import type { Call } from '../domain/intent/operation.js'

/**
 * What a wallet may do in one operation, derived from the plan and not from the calls. `token` is the token it spends,
 * `contract` the called contract, `units` the base units that move, no more and no less. `leastShares`: of a vault, what
 * the last call demands.
 */
export type Allowance = { wallet: string; token: string; contract: string; units: bigint } & (
  | { kind: 'deposit'; leastShares?: bigint }
  /** `everything`: the amount is the wallet's whole position. */
  | { kind: 'withdraw'; everything: boolean }
  /** `finality`: the threshold of the plan's speed. `limits` apply to any plan. */
  | {
      kind: 'bridge'
      destinationDomain: number
      maxFeeUnits: bigint
      finality: number
      limits: PriceLimits
    }
  /** Both tokens are dollar tokens with equal decimals. `poolFee`: fee tier of the one allowed pool, in millionths. */
  | { kind: 'swap'; tokenOut: string; minimumUnits: bigint; poolFee: number; limits: PriceLimits }
)
type AllowanceOf<Kind> = Extract<Allowance, { kind: Kind }>

/** All functions that the signer may call. Other calls are rejected. */
const vocabulary = new Interface([
  'function approve(address spender, uint256 amount)',
  // Aave v3
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function withdraw(address asset, uint256 amount, address to)',
  // ERC-4626
  'function deposit(uint256 assets, address receiver)',
  'function withdraw(uint256 assets, address receiver, address owner)',
  'function redeem(uint256 shares, address receiver, address owner)',
  'function transfer(address to, uint256 shares)',
  // Compound III
  'function supply(address asset, uint256 amount)',
  'function withdraw(address asset, uint256 amount)',
  // The bridge
  `function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient,
    address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)`,
  // Uniswap v3, SwapRouter02
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)`,
])

/**
 * Decodes each call and compares it with the plan: known contract, known function, no extra data, money only for the
 * wallet itself, and all amounts together exactly that of the plan.
 *
 * @throws {ServiceError} INTERNAL with the rule that the first rejected call violates.
 */
export function assertAllowed(calls: Call[], allowance: Allowance): void {
  let moved = 0n
  for (const call of calls) moved += allowedMovement(call, allowance)
  if (moved === 0n) throw refusal('the calls must move money.')
  if (allowance.kind === 'deposit' && allowance.leastShares && !demandsShares(calls.at(-1))) {
    throw refusal('a deposit into a vault must end with its minimum of shares.')
  }
  if (moved !== allowance.units)
    throw refusal('the calls together must move the amount of the plan.')
}

/** Base units that the call moves. Throws when the plan does not allow it. */
function allowedMovement({ to, data }: Call, allowance: Allowance): bigint {
  const { signature, args } = decode(data)
  if (signature === 'approve(address,uint256)') {
    if (allowance.kind === 'withdraw') throw refusal('a withdrawal must not approve anything.')
    same(to, allowance.token, 'the approval must be of the token')
    same(args[0], allowance.contract, 'the spender must be the contract of the plan')
    within(args[1], allowance.units)
    return 0n
  }
  same(to, allowance.contract, 'the call must go to the contract of the plan')
  switch (allowance.kind) {
    case 'deposit':
      return deposited(signature, args, allowance)
    case 'withdraw':
      return withdrawn(signature, args, allowance)
    case 'bridge':
      return burned(signature, args, allowance)
    case 'swap':
      return swapped(signature, args, allowance)
  }
}

/** A transfer of the wallet's shares to itself: it moves nothing, and reverts when they are fewer. */
const SHARES = 'transfer(address,uint256)'
const demandsShares = (call?: Call) => call !== undefined && decode(call.data).signature === SHARES

function deposited(signature: string, args: unknown[], allowance: AllowanceOf<'deposit'>) {
  const { wallet, token, units, leastShares } = allowance
  switch (signature) {
    case SHARES:
      same(args[0], wallet, 'the shares must stay in the wallet')
      if (args[1] !== leastShares) throw refusal('the minimum of shares must be the computed one.')
      return 0n
    case 'supply(address,uint256,address,uint16)':
      same(args[0], token, 'the asset must be the token of the plan')
      same(args[2], wallet, 'the deposit must belong to the wallet')
      if (args[3] !== 0n) throw refusal('the referral code must be zero.')
      return within(args[1], units)
    case 'deposit(uint256,address)':
      same(args[1], wallet, 'the deposit must belong to the wallet')
      return within(args[0], units)
    case 'supply(address,uint256)':
      same(args[0], token, 'the asset must be the token of the plan')
      return within(args[1], units)
    default:
      throw unknown(signature)
  }
}

function withdrawn(signature: string, args: unknown[], allowance: AllowanceOf<'withdraw'>) {
  const { wallet, token, units, everything } = allowance
  /** A full withdrawal counts as the amount of the plan. The market pays out the actual position. */
  const amount = (value: unknown) =>
    everything && isPositive(value) ? units : within(value, units)
  switch (signature) {
    case 'withdraw(address,uint256,address)':
      same(args[0], token, 'the asset must be the token of the plan')
      same(args[2], wallet, 'the money must go to the wallet')
      return amount(args[1])
    case 'withdraw(uint256,address,address)':
      same(args[1], wallet, 'the money must go to the wallet')
      same(args[2], wallet, 'the shares must be those of the wallet')
      return within(args[0], units)
    case 'redeem(uint256,address,address)':
      if (!everything) throw refusal('shares must be redeemed only when everything is withdrawn.')
      same(args[1], wallet, 'the money must go to the wallet')
      same(args[2], wallet, 'the shares must be those of the wallet')
      return amount(args[0])
    case 'withdraw(address,uint256)':
      same(args[0], token, 'the asset must be the token of the plan')
      return amount(args[1])
    default:
      throw unknown(signature)
  }
}

function burned(signature: string, args: unknown[], allowance: AllowanceOf<'bridge'>): bigint {
  if (!signature.startsWith('depositForBurn(')) throw unknown(signature)
  const { wallet, token, units, destinationDomain, maxFeeUnits, finality, limits } = allowance
  if (args[1] !== BigInt(destinationDomain))
    throw refusal('the burn must go to the destination chain of the plan.')
  same(args[2], zeroPadValue(wallet, 32), 'the burned money must arrive in the wallet')
  same(args[3], token, 'the burned token must be that of the plan')
  same(args[4], zeroPadValue('0x', 32), 'any caller must be allowed to mint')
  if (typeof args[5] !== 'bigint' || args[5] > maxFeeUnits) {
    throw refusal('the fee must be within the plan.')
  }
  if (args[6] !== BigInt(finality)) throw refusal('the speed must be that of the plan.')
  const burnedUnits = within(args[0], units)
  if (args[5] > mostFee(burnedUnits, limits)) {
    const percent = Number(limits.bridgeFeeBps) / 100
    throw refusal(`the bridge must keep at most ${percent} % of the amount.`)
  }
  return burnedUnits
}

function swapped(signature: string, args: unknown[], allowance: AllowanceOf<'swap'>): bigint {
  if (!signature.startsWith('exactInputSingle(')) throw unknown(signature)
  const { wallet, token, units, tokenOut, minimumUnits, poolFee, limits } = allowance
  const [tokenIn, out, fee, recipient, unitsIn, minimum, priceLimit] = args[0] as unknown[]
  same(tokenIn, token, 'the swapped token must be that of the plan')
  same(out, tokenOut, 'the token received must be that of the plan')
  same(recipient, wallet, 'the money must go to the wallet')
  if (fee !== BigInt(poolFee)) throw refusal('the pool must be the listed one.')
  if (typeof minimum !== 'bigint' || minimum < minimumUnits || minimum === 0n) {
    throw refusal('the swap must return at least the minimum of the plan.')
  }
  // A price limit could end the swap with part of the money unswapped.
  if (priceLimit !== 0n) throw refusal('the swap must have no price limit.')
  const swappedUnits = within(unitsIn, units)
  if (minimum < leastOutput(swappedUnits, limits)) {
    const percent = 100 - Number(limits.swapLossBps) / 100
    throw refusal(`the swap must return at least ${percent} % of its input.`)
  }
  if (minimum > mostOutput(swappedUnits, limits)) {
    const percent = 100 + Number(limits.swapLossBps) / 100
    throw refusal(`the minimum of the swap must be at most ${percent} % of its input.`)
  }
  return swappedUnits
}

/** A function of the vocabulary. Each argument, or each field of its only tuple argument, is one word long. */
type AllowedFunction = { signature: string; isTuple: boolean; types: string[] }

const WORD = 64
const SELECTOR = '0x'.length + 8

const functions = new Map<string, AllowedFunction>()
vocabulary.forEachFunction((fragment) => {
  const [first] = fragment.inputs
  const fields = first?.components
  const types = (fields ?? fragment.inputs).map(({ type }) => type)
  if (!types.every((type) => /^(address|bytes32|uint\d+)$/.test(type))) {
    throw new Error(`${fragment.name} has an argument of variable length.`)
  }
  functions.set(fragment.selector, { signature: fragment.format(), isTuple: !!fields, types })
})

/** Signature and arguments. The signature is empty for a function outside the vocabulary. Addresses are in lower case. */
function decode(data: string): { signature: string; args: unknown[] } {
  const hex = data.toLowerCase()
  if (!/^0x[0-9a-f]*$/.test(hex)) throw refusal('the call must be decodable.')
  const called = functions.get(hex.slice(0, SELECTOR))
  if (!called) return { signature: '', args: [] }
  const { signature, isTuple, types } = called
  if (hex.length !== SELECTOR + types.length * WORD) {
    throw refusal('the call must contain its parameters and nothing else.')
  }
  const args = types.map((type, i) => {
    const at = SELECTOR + i * WORD
    return readWord(type, hex.slice(at, at + WORD))
  })
  return { signature, args: isTuple ? [args] : args }
}

/** The value of a word. Rejects words with bits outside the range of their type. */
function readWord(type: string, word: string): string | bigint {
  if (type === 'bytes32') return `0x${word}`
  const value = BigInt(`0x${word}`)
  const bits = type === 'address' ? 160 : Number(type.replace('uint', ''))
  if (!(value < 1n << BigInt(bits))) throw refusal('the call must be decodable.')
  return type === 'address' ? `0x${word.slice(-40)}` : value
}

function same(actual: unknown, expected: string, rule: string): void {
  if (typeof actual === 'string' && actual.toLowerCase() === expected.toLowerCase()) return
  throw refusal(`${rule}.`)
}

const isPositive = (value: unknown) => typeof value === 'bigint' && value > 0n

function within(actual: unknown, units: bigint): bigint {
  if (typeof actual === 'bigint' && actual > 0n && actual <= units) return actual
  throw refusal('the amount must be within the plan.')
}

const unknown = (signature: string) =>
  refusal(`the function must be an allowed one, not ${signature || 'an unknown one'}.`)

/** INTERNAL with the violated rule. `rule` ends the sentence. */
export function refusal(rule: string): ServiceError {
  return new ServiceError('INTERNAL', `Signing rejected: ${rule}`)
}
