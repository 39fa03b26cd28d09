import { smallest } from './money.js'

/** Number of shares in a share price. Prices are in base units of the underlying. */
export const SHARE_SCALE = 10n ** 27n

/** Shares are counted this much finer, so that rounding stays far below a base unit. */
const FINER = 10n ** 12n

/** A deposit or withdrawal of one market. `sharePrice`: base units per `SHARE_SCALE` shares, null when unknown. */
export type Flow = { kind: 'deposit' | 'withdraw'; units: bigint; sharePrice: bigint | null }

/**
 * Interest on what was deposited, in base units. Receipt tokens that others sent into the wallet earn nothing here, also
 * when they are withdrawn, and those that left it count as if they had stayed. Undefined when a price is unknown.
 *
 * @param flows - In the order of the chain.
 */
export function earnedUnits(flows: Flow[], sharePrice: bigint | null): bigint | undefined {
  let shares = 0n
  let earned = 0n
  for (const { kind, units, sharePrice: price } of flows) {
    if (!price) return undefined
    const moved = sharesOf(units, price)
    if (kind === 'deposit') {
      shares += moved
      earned -= units
      continue
    }
    const own = smallest(moved, shares)
    shares -= own
    earned += own === moved ? units : unitsOf(own, price)
  }
  if (shares === 0n) return earned
  return sharePrice ? earned + unitsOf(shares, sharePrice) : undefined
}

const sharesOf = (units: bigint, price: bigint) => (units * SHARE_SCALE * FINER) / price
/** Rounded to the nearest base unit. */
const unitsOf = (shares: bigint, price: bigint) =>
  (shares * price + (SHARE_SCALE * FINER) / 2n) / (SHARE_SCALE * FINER)
