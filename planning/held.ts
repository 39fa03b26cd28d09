import { readOpenFundings, type Funding } from '../db/intents/fundings.js'
import { readHoldings, type BookedBlock, type Holding } from '../db/lanes/reservations.js'
import { ServiceError } from '../domain/errors.js'
import { demoFunding } from '../domain/funding.js'
import {
  withComing,
  withHeld,
  type Coming,
  type ReservedMoney,
} from '../domain/plan/insufficientFunds.js'
import { findToken, type Chain } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { IntentRequest } from '../domain/intent.js'

/** Money of a wallet that was counted, and at which blocks. */
type Counted = {
  walletId: string
  request: IntentRequest
  snapshots: { client: { chain: Chain }; booked: BookedBlock }[]
}

/** More is not read. */
const MOST_HELD = 10

/**
 * The error, with what other intents of the wallet hold of the money that lacks, and what is on its way to it; any other error as it is.
 */
export async function tellHeld(trx: Db, error: unknown, counted: Counted): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.code !== 'INSUFFICIENT_FUNDS') return error
  // Nothing lacks then but what the market has.
  if (error.details.reason === 'no_liquidity') return error
  const { walletId, request, snapshots } = counted
  const held: ReservedMoney[] = []
  for (const { client, booked } of snapshots) {
    for (const { token, asset } of tokensOf(client.chain, request)) {
      const holdings = await readHoldings(trx, { walletId, token }, booked)
      held.push(...holdings.map((holding) => toHeld(client.chain, asset, holding)))
    }
  }
  const told = withHeld(error, held.slice(0, MOST_HELD))
  if (request.action === 'withdraw') return told
  const fundings = await readOpenFundings(trx, walletId)
  return withComing(told, fundings.map(toComing))
}

/** What a request could spend on a chain: the asset itself, or what stands for it in the chain's markets. */
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

const toComing = ({ id, units, createdAt }: Funding): Coming => ({
  fundingId: id,
  chain: demoFunding.chain,
  asset: demoFunding.asset,
  units: BigInt(units),
  since: createdAt,
})

const toHeld = (chain: Chain, asset: string, holding: Holding): ReservedMoney => ({
  intentId: holding.intentId,
  step: holding.step,
  chain: chain.name,
  asset,
  units: holding.units,
  since: holding.since,
  why: holding.hasFailed ? 'not_final' : 'open',
})
