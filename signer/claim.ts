import { askTwice } from '../chains/askTwice.js'
import { didAnswer, type ChainClient } from '../chains/connect.js'
import { ServiceError } from '../domain/errors.js'
import { assetText } from '../domain/money.js'
import { failureCodes } from '../domain/operation.js'
import { BOUNDLESS, lendingProtocol, marketsSharing, poolOf } from '../protocols/lending/markets.js'
import type { Market } from '../chains/registry.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Direction } from '../protocols/lending/lending.js'
import type { Held } from '../domain/waiting.js'
import type { Round } from './round.js'

/**
 * What an operation takes of something that others take of too: `units` of at most `limit` at the head of the
 * round. Of a limit of zero one at a time takes.
 */
export type Claim = {
  /** What is held while it is decided. */
  key: string
  /** The resources that share the limit. */
  resources: string[]
  units: bigint
  limit: bigint
  market?: Market
}

type Place = Pick<Round, 'client' | 'head'>

/**
 * What an operation contends for at the head of the round, undefined when there is enough for all. Two swaps of a
 * pair would each be promised the price of before: which pool it goes through is decided by quotes at the
 * signature, and the pools of a pair follow each other, so that a pair counts as one. Two burns of a wallet would
 * emit messages that nobody can tell apart.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer.
 */
export async function readClaim(place: Place, operation: Operation): Promise<Claim | undefined> {
  const { kind, resource, input } = operation
  if (!resource) return undefined
  const units = BigInt(input.units)
  if (kind === 'swap' || kind === 'bridge') {
    return { key: resource, resources: [resource], units, limit: 0n }
  }
  if (kind !== 'deposit' && kind !== 'withdraw') return undefined
  const { markets } = place.client.chain
  const market = markets.find(({ address }) => resource === `${kind}:${address.toLowerCase()}`)
  if (!market) return undefined
  const limit = await readLimit(place, market, kind)
  if (limit >= BOUNDLESS) return undefined
  const sharing = marketsSharing(place.client.chain, market)
  const resources = sharing.map(({ address }) => `${kind}:${address.toLowerCase()}`)
  return { key: `${kind}:${poolOf(market)}`, resources, units, limit, market }
}

/** Zero where the market does not report its limit: operations are then simulated one at a time. */
async function readLimit(
  { client, head }: Place,
  market: Market,
  direction: Direction,
): Promise<bigint> {
  const protocol = lendingProtocol(market)
  const at = { blockNumber: head }
  const ask = () =>
    direction === 'deposit'
      ? protocol.readRoom(client, market, at)
      : protocol.readCash(client, market, at)
  try {
    return (await askTwice(ask, didAnswer)) ?? 0n
  } catch (error) {
    if (didAnswer(error)) return 0n
    throw error
  }
}

/**
 * A refusal that only comes of too little room or cash is none: both come back.
 *
 * @throws {ServiceError} DEPOSIT_FAILED or WITHDRAW_FAILED when that is so; RPC_ERROR.
 */
export async function assertNotShort(
  { client, head }: Place,
  { kind }: Operation,
  claim: Claim | undefined,
): Promise<void> {
  if (!claim?.market || claim.units <= claim.limit) return
  if (kind !== 'deposit' && kind !== 'withdraw') return
  const at = { direction: kind, block: { blockNumber: head } }
  if (await lendingProtocol(claim.market).isClosed(client, claim.market, at)) return
  const details = { waitsFor: 'MARKET_ROOM' } satisfies Held
  throw new ServiceError(failureCodes[kind], shortage(client, kind, claim), details)
}

/** Says how much of a claim there is. */
export function shortage({ chain }: ChainClient, direction: Direction, claim: Claim): string {
  const name = `${claim.market?.protocol} on ${chain.name}`
  const does = direction === 'deposit' ? 'takes in' : 'pays out'
  const [limit, units] = [assetText(claim.limit), assetText(claim.units)]
  return `${name} ${does} no more than ${limit} now, others are before the ${units} of this step. It is tried again.`
}
