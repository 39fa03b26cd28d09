import type { Call } from '../../domain/operation.js'

/** What a plan allows, as the oracle reads it. */
export type Plan = {
  kind: 'deposit' | 'withdraw' | 'bridge' | 'swap'
  wallet: string
  token: string
  contract: string
  units: bigint
  everything?: boolean
  destinationDomain?: number
  maxFeeUnits?: bigint
  finalityThreshold?: number
  tokenOut?: string
  minimumUnits?: bigint
}

/** What one call may look like, in bytes, and what its numbers move; undefined when they are too much. */
type Form = { to: string; pattern: string; moved: (numbers: bigint[]) => bigint | undefined }

const number = '([0-9a-f]{64})'
const uint24 = '0{58}[0-9a-f]{6}'
const padded = (hex: string) => hex.padStart(64, '0')
const word = (address: string) => padded(address.slice(2).toLowerCase())
const zero = padded('')

/** What calls may do, stated again and by bytes: an oracle that shares nothing with the policy. */
export function isInPlan(calls: Call[], plan: Plan): boolean {
  const forms = formsOf(plan)
  const moved = calls.map((call) => movedBy(call, forms))
  if (moved.some((units) => units === undefined)) return false
  const sum = moved.reduce<bigint>((total, units) => total + (units ?? 0n), 0n)
  return sum > 0n && sum <= plan.units
}

function movedBy({ to, data }: Call, forms: Form[]): bigint | undefined {
  for (const form of forms) {
    const match = new RegExp(`^0x${form.pattern}$`, 'i').exec(data)
    if (!match || to.toLowerCase() !== form.to.toLowerCase()) continue
    return form.moved(match.slice(1).map((hex) => BigInt(`0x${hex}`)))
  }
  return undefined
}

function formsOf(plan: Plan): Form[] {
  const { kind, wallet, token, contract, units } = plan
  const [owner, asset] = [word(wallet), word(token)]
  const within = ([amount = 0n]: bigint[]) => (amount > 0n && amount <= units ? amount : undefined)
  const all = (numbers: bigint[]) =>
    plan.everything && (numbers[0] ?? 0n) > 0n ? units : within(numbers)
  const call = (pattern: string, moved: Form['moved']): Form => ({ to: contract, pattern, moved })
  const approval: Form = {
    to: token,
    pattern: `095ea7b3${word(contract)}${number}`,
    moved: (numbers) => (within(numbers) === undefined ? undefined : 0n),
  }
  switch (kind) {
    case 'deposit':
      return [
        approval,
        call(`617ba037${asset}${number}${owner}${zero}`, within),
        call(`6e553f65${number}${owner}`, within),
        call(`f2b9fdb8${asset}${number}`, within),
      ]
    case 'withdraw':
      return [
        call(`69328dec${asset}${number}${owner}`, all),
        call(`b460af94${number}${owner}${owner}`, within),
        call(`f3fef3a3${asset}${number}`, all),
        ...(plan.everything ? [call(`ba087652${number}${owner}${owner}`, all)] : []),
      ]
    case 'bridge':
      return [approval, call(burnPattern(plan), burnMoves(plan, within))]
    case 'swap':
      return [approval, call(swapPattern(plan), swapMoves(plan, within))]
  }
}

function burnPattern({ wallet, token, destinationDomain = 0, finalityThreshold = 0 }: Plan) {
  const domain = padded(destinationDomain.toString(16))
  const pace = padded(finalityThreshold.toString(16))
  return `8e0250ee${number}${domain}${word(wallet)}${word(token)}${zero}${number}${pace}`
}

const burnMoves =
  ({ maxFeeUnits = 0n }: Plan, within: Form['moved']): Form['moved'] =>
  ([amount = 0n, fee = 0n]) =>
    fee <= maxFeeUnits ? within([amount]) : undefined

const swapPattern = ({ wallet, token, tokenOut = '' }: Plan) =>
  `04e45aaf${word(token)}${word(tokenOut)}${uint24}${word(wallet)}${number}${number}${zero}`

const swapMoves =
  ({ minimumUnits = 0n }: Plan, within: Form['moved']): Form['moved'] =>
  ([amount = 0n, minimum = 0n]) =>
    minimum >= minimumUnits && minimum > 0n ? within([amount]) : undefined
