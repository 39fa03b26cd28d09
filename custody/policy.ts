import { Interface } from 'ethers'
import { ServiceError } from '../domain/errors.js'
import type { Call } from '../domain/operation.js'

/** What a wallet may do in one operation, stated by the plan and not by whoever built the calls. */
export type Allowance = {
  wallet: string
  token: string
  market: string
  /** Base units that may leave the wallet at most. */
  units: bigint
}

/** The whole vocabulary of the signer. A call that is not in it is refused. */
const vocabulary = new Interface([
  'function approve(address spender, uint256 amount)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
])

/**
 * Decodes each call again and compares it with the plan: known contract, known function, nothing but its
 * parameters, money for the wallet itself, and all deposits together within the plan.
 *
 * @throws {ServiceError} INTERNAL that names the rule which the first refused call breaks.
 */
export function assertAllowed(calls: Call[], allowance: Allowance): void {
  let spent = 0n
  for (const call of calls) spent += allowedSpending(call, allowance)
  if (spent === 0n) throw refusal('it moves no money.')
  if (spent > allowance.units) throw refusal('the deposits add up to more than the plan.')
}

/** Base units that the call moves out of the wallet. Throws when it is not in the plan. */
function allowedSpending({ to, data }: Call, { wallet, token, market, units }: Allowance): bigint {
  const { name, args } = decode(data)
  switch (name) {
    case 'approve':
      same(to, token, 'approve goes to the token')
      same(args[0], market, 'the spender is the market')
      within(args[1], units)
      return 0n
    case 'supply':
      same(to, market, 'supply goes to the market')
      same(args[0], token, 'the asset is the token')
      same(args[2], wallet, 'the deposit belongs to the wallet')
      if (args[3] !== 0n) throw refusal('the referral code is zero.')
      return within(args[1], units)
    default:
      throw refusal(`${data.slice(0, 10)} is not an allowed function.`)
  }
}

/** Name and arguments; no name for a function outside the vocabulary. */
function decode(data: string): { name?: string; args: unknown[] } {
  try {
    const parsed = vocabulary.parseTransaction({ data })
    if (!parsed) return { args: [] }
    const args = parsed.args.toArray() as unknown[]
    if (vocabulary.encodeFunctionData(parsed.fragment, args) !== data.toLowerCase()) {
      throw refusal('the call carries more than its parameters.')
    }
    return { name: parsed.name, args }
  } catch (error) {
    throw error instanceof ServiceError ? error : refusal('the call cannot be decoded.')
  }
}

function same(actual: unknown, expected: string, rule: string): void {
  if (typeof actual === 'string' && actual.toLowerCase() === expected.toLowerCase()) return
  throw refusal(`${rule}.`)
}

function within(actual: unknown, units: bigint): bigint {
  if (typeof actual === 'bigint' && actual > 0n && actual <= units) return actual
  throw refusal('the amount is not within the plan.')
}

function refusal(rule: string): ServiceError {
  return new ServiceError('INTERNAL', `Refused to sign: ${rule}`)
}
