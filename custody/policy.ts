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
 * Decodes each call again and compares it with the plan: known contract, known function, amount within
 * the plan, money for the wallet itself.
 *
 * @throws {ServiceError} INTERNAL that names the rule which the first refused call breaks.
 */
export function assertAllowed(calls: Call[], allowance: Allowance): void {
  if (calls.length === 0) throw refusal('there is nothing to do.')
  for (const call of calls) assertCall(call, allowance)
}

function assertCall({ to, data }: Call, { wallet, token, market, units }: Allowance): void {
  const parsed = vocabulary.parseTransaction({ data })
  switch (parsed?.name) {
    case 'approve':
      same(to, token, 'approve goes to the token')
      same(parsed.args[0], market, 'the spender is the market')
      within(parsed.args[1], units)
      return
    case 'supply':
      same(to, market, 'supply goes to the market')
      same(parsed.args[0], token, 'the asset is the token')
      within(parsed.args[1], units)
      same(parsed.args[2], wallet, 'the deposit belongs to the wallet')
      return
    default:
      throw refusal(`${data.slice(0, 10)} is not an allowed function.`)
  }
}

function same(actual: unknown, expected: string, rule: string): void {
  if (typeof actual === 'string' && actual.toLowerCase() === expected.toLowerCase()) return
  throw refusal(`${rule}.`)
}

function within(actual: unknown, units: bigint): void {
  if (typeof actual === 'bigint' && actual > 0n && actual <= units) return
  throw refusal('the amount is above the plan.')
}

function refusal(rule: string): ServiceError {
  return new ServiceError('INTERNAL', `Refused to sign: ${rule}`)
}
