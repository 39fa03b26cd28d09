import { readOpenFundings, type StoredFunding } from '../db/intents/fundings.js'
import {
  readReservationsOfToken,
  type IndexedBlock,
  type ReservedByStep,
} from '../db/intents/reservations.js'
import { ServiceError } from '../domain/errors.js'
import { demoFunding } from '../domain/intent/funding.js'
import {
  withComing,
  withHeld,
  type Coming,
  type ReservedMoney,
} from '../domain/plan/insufficientFunds.js'
import { findToken, type Chain } from '../evm/registry.js'
import type { Db } from '../db/client/connect.js'
import type { IntentRequest } from '../domain/intent/intent.js'

/** Money of a wallet that a plan counted, and the blocks of the balances. */
type CountedMoney = {
  walletId: string
  request: IntentRequest
  snapshots: { client: { chain: Chain }; indexed: IndexedBlock }[]
}

/** The most reservations in an error. */
const MOST_HELD = 10

/**
 * Adds the reservations of other intents and the fundings that are on their way to INSUFFICIENT_FUNDS. Returns other
 * errors unchanged.
 */
export async function explainReserved(
  trx: Db,
  error: unknown,
  counted: CountedMoney,
): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.code !== 'INSUFFICIENT_FUNDS') return error
  // The wallet has the money, but the market has no cash.
  if (error.details.reason === 'no_liquidity') return error
  const { walletId, request, snapshots } = counted
  const held: ReservedMoney[] = []
  for (const { client, indexed } of snapshots) {
    for (const { token, asset } of tokensOf(client.chain, request)) {
      const holdings = await readReservationsOfToken(trx, { walletId, token }, indexed)
      held.push(...holdings.map((holding) => toHeld(client.chain, asset, holding)))
    }
  }
  const extended = withHeld(error, held.slice(0, MOST_HELD))
  if (request.action === 'withdraw') return extended
  const fundings = await readOpenFundings(trx, walletId)
  return withComing(extended, fundings.map(toComing))
}

/** The tokens that a request could spend on a chain: the asset itself, or the receipt tokens of the chain's markets. */
function tokensOf(chain: Chain, request: IntentRequest): { token: string; asset: string }[] {
  const { asset } = request
  if (request.action !== 'withdraw') {
    const token = findToken(chain, asset)?.address
    return token ? [{ token, asset }] : []
  }
  const markets = chain.name === request.chain ? chain.markets : []
  const own = findToken(chain, asset)?.address
  return markets
    .filter(({ underlying }) => underlying === own)
    .map(({ receiptToken }) => ({ token: receiptToken, asset }))
}

const toComing = ({ id, units, createdAt }: StoredFunding): Coming => ({
  fundingId: id,
  chain: demoFunding.chain,
  asset: demoFunding.asset,
  units: BigInt(units),
  since: createdAt,
})

const toHeld = (chain: Chain, asset: string, holding: ReservedByStep): ReservedMoney => ({
  intentId: holding.intentId,
  step: holding.step,
  chain: chain.name,
  asset,
  units: holding.units,
  since: holding.since,
  why: holding.hasFailed ? 'not_final' : 'open',
  ...(holding.settlesAt && { until: holding.settlesAt }),
})
