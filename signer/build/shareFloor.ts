import { ServiceError } from '../../domain/errors.js'
import { leastOutput, type PriceLimits } from '../../domain/limits.js'
import { divideUp } from '../../domain/money.js'
import { lendingProtocol } from '../../evm/lending/markets.js'
import { hasOpenWithdrawal, type Operation } from '../../operations/operations.js'
import type { Held } from '../../domain/intent/waiting.js'
import type { Call } from '../../domain/intent/operation.js'
import type { Market } from '../../evm/registry.js'
import type { SigningContext, SignerTools } from '../signingContext.js'

/** How far the price of a share may rise between signature and block, in basis points: interest of days. */
const RISE_BPS = 10n
const WHOLE_BPS = 10_000n

/** Base units by which shares may be worth less than their deposit, because vaults round down. */
const ROUNDING_UNITS = 10n

/** The least shares that the wallet holds after its deposit, and the last call of the batch, which demands them. */
type ShareFloor = { leastShares: bigint; call: Call }

type DepositContext = Pick<SigningContext, 'client' | 'head'> &
  Pick<SignerTools, 'db'> & { operation: Operation; limits: PriceLimits }

/**
 * The minimum of a deposit into a vault, whose own function has none. Undefined for markets that credit the deposit
 * itself. The minimum includes earlier shares, except while a withdrawal of the wallet may take them. A withdrawal that
 * is signed later and mined earlier makes the deposit revert. The money stays in the wallet then.
 *
 * @throws {ServiceError} DEPOSIT_FAILED while the shares would be worth less than the limit for swaps allows.
 */
export async function readShareFloor(
  { db, operation, client, head, limits }: DepositContext,
  market: Market,
  { wallet, units }: { wallet: string; units: bigint },
): Promise<ShareFloor | undefined> {
  const protocol = lendingProtocol(market)
  if (!protocol.previewDeposit || !protocol.encodeLeastShares) return undefined
  const block = { blockNumber: head }
  const preview = await protocol.previewDeposit(client, market, { wallet, units, block })
  const { heldShares, addedShares, worthUnits } = preview
  if (addedShares === 0n || worthUnits + ROUNDING_UNITS < leastOutput(units, limits)) {
    const message = `The vault would return shares worth ${worthUnits} base units for ${units} now.`
    throw new ServiceError('DEPOSIT_FAILED', message, { waitsFor: 'PRICE' } satisfies Held)
  }
  const leastAdded = divideUp(addedShares * (WHOLE_BPS - RISE_BPS), WHOLE_BPS)
  const isLeaving = await hasOpenWithdrawal(db, operation, head)
  const leastShares = (isLeaving ? 0n : heldShares) + leastAdded
  return { leastShares, call: protocol.encodeLeastShares(market, wallet, leastShares) }
}
