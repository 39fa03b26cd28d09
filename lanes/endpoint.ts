import { didAnswer, type ChainClient } from '../chains/connect.js'
import { readBlock, type Block } from '../chains/read.js'
import { findChainState, readHeaders, type BlockId } from '../db/lanes/booking.js'
import type { DriverTools } from './driverTools.js'

/** Rounds after which the endpoints are compared though nothing is wrong: one of them may be ahead. */
const ROUNDS_BEFORE_COMPARING = 50
/** Rounds without a new head after which they are: this one may be behind. */
const IDLE_BEFORE_COMPARING = 5
/** Comparisons after which a vanished block is believed though somebody was silent or behind. */
const PATIENCE = 5
/** The same when only endpoints say so that were on another chain before: ten minutes at least. */
const PATIENCE_WITH_STRAYS = 600

/**
 * The endpoint that a round of booking reads from, alone: answers of several do not belong together.
 * It stays the same until it fails, stands still or a while has passed.
 *
 * @returns Undefined when no endpoint should be believed in this round.
 */
export async function followEndpoint(tools: DriverTools): Promise<ChainClient | undefined> {
  const { client, db, following } = tools
  const { endpoints } = client
  if (endpoints.length === 1) return endpoints[0]
  const isDue =
    following.rounds >= ROUNDS_BEFORE_COMPARING || following.idle >= IDLE_BEFORE_COMPARING
  if (following.endpoint && !isDue) {
    following.rounds += 1
    return following.endpoint
  }
  const state = await findChainState(db, client.chain.chainId)
  return state ? compareEndpoints(tools, state.booked) : firstToAnswer(tools)
}

/** Lets the next round choose anew: this endpoint has failed. */
export function leaveEndpoint({ following }: DriverTools): void {
  following.endpoint = undefined
}

/** Counts the rounds in which the head stands still. */
export function noteHead({ following }: DriverTools, head: Block | undefined): void {
  const isSame = head === undefined || head.hash === following.head
  following.idle = isSame ? following.idle + 1 : 0
  following.head = head?.hash ?? ''
}

/**
 * Asks all endpoints for the booked block. Of those that have it the one with the highest head is
 * followed. That it has gone is believed only when no endpoint that answers has it: one that is behind
 * or on another chain takes nothing back while another still agrees with what is booked.
 *
 * @returns The endpoint to follow: with a chain that lacks the booked block, a reorg is believed.
 *   Undefined when it is too early to believe anything.
 * @throws {ServiceError} RPC_ERROR when none answers.
 */
export async function compareEndpoints(
  tools: DriverTools,
  booked: BlockId,
): Promise<ChainClient | undefined> {
  const { client, following } = tools
  const { endpoints } = client
  if (endpoints.length === 1) return endpoints[0]
  const { sights, silent } = await lookThroughAll(endpoints, booked)
  const agreeing = sights.filter(({ at }) => at === booked.hash)
  if (agreeing.length > 0) return followAgreeing(tools, { sights, agreeing, silent }, booked)
  const differing = await findDiffering(tools, sights)
  if (differing.length === 0) return follow(tools, [])
  const credible = differing.filter(({ endpoint }) => !following.strays.has(endpoint))
  const isUnanimous = silent === 0 && differing.length === sights.length
  if (!isUnanimous && isTooEarly(tools, credible.length > 0)) return undefined
  return follow(tools, credible.length > 0 ? credible : differing)
}

/** What a comparison has shown: all sights, those that have the booked block, and how many were silent. */
type Comparison = { sights: Sight[]; agreeing: Sight[]; silent: number }

/** A fork may begin above what is booked: who is known to be on one is not followed while others are silent. */
function followAgreeing(
  tools: DriverTools,
  { sights, agreeing, silent }: Comparison,
  booked: BlockId,
): ChainClient | undefined {
  const { following } = tools
  const trusted = agreeing.filter(({ endpoint }) => !endpoint.isApart?.())
  if (trusted.length === 0 && silent > 0 && isTooEarly(tools, false)) return undefined
  following.doubts = 0
  for (const { endpoint } of agreeing) following.strays.delete(endpoint)
  const differing = sights.filter(({ at }) => at !== undefined && at !== booked.hash)
  for (const { endpoint } of differing) markStray(tools, endpoint)
  return follow(tools, trusted.length > 0 ? trusted : agreeing)
}

/** What one endpoint shows: its head, and the hash of its block at the booked height. */
type Sight = { endpoint: ChainClient; head: Block; at: string | undefined }

async function lookThroughAll(endpoints: ChainClient[], booked: BlockId) {
  const answers = await Promise.allSettled(endpoints.map((one) => look(one, booked)))
  const sights = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (sights.length === 0 && failed) throw failed.reason
  return { sights, silent: endpoints.length - sights.length }
}

async function look(endpoint: ChainClient, { number }: BlockId): Promise<Sight> {
  const [head, at] = await Promise.all([
    readBlock(endpoint, 'latest'),
    // Some nodes answer with an error for a block that they do not have yet.
    readBlock(endpoint, { blockNumber: number }).catch((error: unknown) => {
      if (didAnswer(error)) return undefined
      throw error
    }),
  ])
  if (!head) throw new Error('An endpoint has no latest block.')
  return { endpoint, head, at: at?.hash }
}

/** Those that contradict what is booked. One whose head is a block of ours is only behind. */
async function findDiffering({ db, client }: DriverTools, sights: Sight[]): Promise<Sight[]> {
  const kept = new Set((await readHeaders(db, client.chain.chainId)).map(({ hash }) => hash))
  return sights.filter(({ at, head }) => at !== undefined || !kept.has(head.hash))
}

/** Counts the doubts; true while there are too few to believe that the booked block has gone. */
function isTooEarly({ client, following, log }: DriverTools, isCredible: boolean): boolean {
  following.doubts += 1
  following.endpoint = undefined
  const { name } = client.chain
  const limit = isCredible ? PATIENCE : PATIENCE_WITH_STRAYS
  if (following.doubts === PATIENCE && !isCredible) {
    log.error({ chain: name }, 'only endpoints on another chain answer, booking waits')
  }
  return following.doubts < limit
}

function markStray({ client, following, log }: DriverTools, endpoint: ChainClient): void {
  if (following.strays.has(endpoint)) return
  following.strays.add(endpoint)
  const index = client.endpoints.indexOf(endpoint) + 1
  log.warn({ chain: client.chain.name, endpoint: index }, 'an endpoint shows another chain')
}

/** Follows the one with the highest head, of equal ones the preferred one. */
function follow({ following }: DriverTools, sights: Sight[]): ChainClient | undefined {
  const highest = sights.reduce<Sight | undefined>(
    (best, sight) => (best && best.head.number >= sight.head.number ? best : sight),
    undefined,
  )
  Object.assign(following, { endpoint: highest?.endpoint, rounds: 0, idle: 0 })
  return highest?.endpoint
}

/** Nothing is booked yet that could be compared: the preferred one of those that answer. */
async function firstToAnswer({ client, following }: DriverTools): Promise<ChainClient | undefined> {
  const { sights } = await lookThroughAll(client.endpoints, { number: 0n, hash: '' })
  following.endpoint = sights[0]?.endpoint
  return following.endpoint
}
