import { didAnswer, type ChainClient } from '../chains/connect.js'
import { readBlock, type Block } from '../chains/read.js'
import { findChainState, readHeaders, type BlockId } from '../db/lanes/booking.js'
import type { DriverTools, Following } from './driverTools.js'

/** Rounds after which the endpoints are compared though nothing is wrong: one of them may be ahead. */
const ROUNDS_BEFORE_COMPARING = 50
/** Rounds without a new head after which they are: this one may be behind. */
const IDLE_BEFORE_COMPARING = 5
/** How long a vanished block is doubted when somebody is silent or behind: he may have it. */
const DOUBT_MS = 3_000
/** The same when only endpoints say so that were on another chain before: longer than a quota is closed. */
const DOUBT_STRAYS_MS = 600_000
/**
 * How long somebody is waited for who is silent, or preferred and behind, while a process chooses for the first time:
 * the others may be on a fork.
 */
const DOUBT_UNHEARD_MS = 10_000
/** How long what is booked is kept that only endpoints have which are on a fork, as the others show: longer than any reorg of a head. */
const DOUBT_FORK_MS = 60_000

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
  const { endpoint, isLeft } = following
  if (endpoint && !isLeft && !isDue(following)) {
    following.rounds += 1
    return endpoint
  }
  const state = await findChainState(db, client.chain.chainId)
  return state ? compareEndpoints(tools, state.booked) : firstToAnswer(tools)
}

/** True when the followed one may be behind, or another one ahead. */
const isDue = ({ rounds, idle }: Following): boolean =>
  rounds >= ROUNDS_BEFORE_COMPARING || idle >= IDLE_BEFORE_COMPARING

/**
 * The endpoint that booking reads from. What another one says of a block or a transaction may be true of another chain
 * only.
 */
export const followedEndpoint = ({ client, following }: DriverTools): ChainClient =>
  following.endpoint ?? client.endpoints[0] ?? client

/** Lets the next round choose anew: this endpoint has failed. */
export function leaveEndpoint({ following }: DriverTools): void {
  following.isLeft = true
}

/** Counts the rounds in which the head stands still. */
export function noteHead({ following }: DriverTools, head: Block | undefined): void {
  const isSame = head === undefined || head.hash === following.head
  following.idle = isSame ? following.idle + 1 : 0
  following.head = head?.hash ?? ''
}

/**
 * Asks all endpoints for the booked block. Of those that have it the preferred one is followed, and where that was
 * for a while, the one with the highest head. That it has gone is believed only when no endpoint that answers has it: one that is behind
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
  const differing = await findDiffering(tools, booked, sights)
  if (differing.length === 0) {
    following.doubtedSince = undefined
    following.isLeft = true
    return undefined
  }
  const credible = differing.filter(({ endpoint }) => !following.strays.has(endpoint))
  const isUnanimous = silent === 0 && differing.length === sights.length
  const doubtMs = credible.length > 0 ? DOUBT_MS : DOUBT_STRAYS_MS
  if (!isUnanimous && isTooEarly(tools, doubtMs)) return undefined
  return follow(tools, credible.length > 0 ? credible : differing)
}

/** What a comparison has shown: all sights, those that have the booked block, and how many were silent. */
type Comparison = { sights: Sight[]; agreeing: Sight[]; silent: number }

/**
 * A fork may begin above what is booked: while others are silent nobody is followed who is known to be on one, nor
 * anybody at first, when nothing is known yet. What is booked of a fork is kept as long as the fork has it, unless
 * all others answer, and one of those that are together contradicts it for a while.
 */
async function followAgreeing(
  tools: DriverTools,
  comparison: Comparison,
  booked: BlockId,
): Promise<ChainClient | undefined> {
  const { following } = tools
  const { sights, agreeing, silent } = comparison
  const differing = sights.filter(({ at }) => at !== undefined && at !== booked.hash)
  const trusted = agreeing.filter(
    ({ endpoint }) => !isOnFork(endpoint) && !following.strays.has(endpoint),
  )
  if (silent > 0 && trusted.length === 0 && isTooEarly(tools, DOUBT_STRAYS_MS)) return undefined
  if (!following.endpoint && isAnyUnheard(tools, comparison)) {
    if (isTooEarly(tools, DOUBT_UNHEARD_MS)) return undefined
  }
  if (silent === 0 && agreeing.every(({ endpoint }) => isOnFork(endpoint))) {
    const others = (await findDiffering(tools, booked, sights)).filter(
      ({ endpoint, at }) => at !== booked.hash && !isOnFork(endpoint),
    )
    if (others.length > 0) return leaveFork(tools, others)
  }
  Object.assign(following, { doubtedSince: undefined, isForkTold: false })
  for (const { endpoint } of differing) markStray(tools, endpoint)
  return follow(tools, trusted.length > 0 ? trusted : agreeing)
}

/** As comparing the heads of all has shown. */
const isOnFork = (endpoint: ChainClient): boolean => endpoint.isApart?.() ?? false

/** True while somebody is silent, or lacks the booked block who is preferred to all that have it. */
function isAnyUnheard(
  { client: { endpoints } }: DriverTools,
  { sights, agreeing, silent }: Comparison,
): boolean {
  const [first] = agreeing
  const before = first ? endpoints.slice(0, endpoints.indexOf(first.endpoint)) : []
  return (
    silent > 0 || sights.some(({ endpoint, at }) => at === undefined && before.includes(endpoint))
  )
}

/** What is booked stays until it was contradicted for long enough; then booking goes on where the others are. */
async function leaveFork(tools: DriverTools, others: Sight[]): Promise<ChainClient | undefined> {
  const { client, following, log } = tools
  const facts = { chain: client.chain.name }
  if (!following.isForkTold) {
    following.isForkTold = true
    log.error(facts, 'what is booked is only on endpoints that are on a fork, booking waits')
  }
  if (isTooEarly(tools, DOUBT_FORK_MS)) return undefined
  log.error(facts, 'what is booked is taken for that of a fork')
  return follow(tools, others)
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
async function findDiffering(
  { db, client }: DriverTools,
  booked: BlockId,
  sights: Sight[],
): Promise<Sight[]> {
  const kept = new Set((await readHeaders(db, client.chain.chainId)).map(({ hash }) => hash))
  const isElsewhere = ({ number, hash }: Block) => number < booked.number && !kept.has(hash)
  return sights.filter(({ at, head }) => at !== undefined || isElsewhere(head))
}

/** True while it is too early to believe what is told, without those who are silent. */
function isTooEarly({ client, following, log }: DriverTools, doubtMs: number): boolean {
  const now = Date.now()
  if (following.doubtedSince === undefined && doubtMs === DOUBT_STRAYS_MS) {
    const { name } = client.chain
    log.error({ chain: name }, 'only endpoints on another chain answer, booking waits')
  }
  following.doubtedSince ??= now
  following.isLeft = true
  return now - following.doubtedSince < doubtMs
}

function markStray({ client, following, log }: DriverTools, endpoint: ChainClient): void {
  if (following.strays.has(endpoint)) return
  following.strays.add(endpoint)
  const index = client.endpoints.indexOf(endpoint) + 1
  log.warn({ chain: client.chain.name, endpoint: index }, 'an endpoint shows another chain')
}

/**
 * Follows the preferred one; when the followed one was for long, or stands still, the one with the highest head. At
 * first a fork that is longer looks like a chain of which the preferred one only lacks the newest blocks.
 */
async function follow(tools: DriverTools, sights: Sight[]): Promise<ChainClient | undefined> {
  const { following } = tools
  const apart = await findApart(following, sights)
  for (const { endpoint } of apart) markStray(tools, endpoint)
  const together = sights.filter((sight) => !apart.includes(sight))
  for (const { endpoint } of together) following.strays.delete(endpoint)
  const highest = together.reduce<Sight | undefined>(
    (best, sight) => (best && best.head.number >= sight.head.number ? best : sight),
    undefined,
  )
  const wasDue = isDue(following)
  const chosen = wasDue ? highest : together[0]
  // One that fails again and again is not preferred for ever.
  const rounds = wasDue ? 0 : following.rounds + 1
  Object.assign(following, { endpoint: chosen?.endpoint, isLeft: false, rounds, idle: 0 })
  return chosen?.endpoint
}

/**
 * Those whose newest blocks are not of one chain with the others', though none contradicts what is booked:
 * a fork has just begun. The majority is believed; of equal parties that of the endpoint followed so far,
 * else of the preferred one.
 */
async function findApart({ endpoint }: Following, sights: Sight[]): Promise<Sight[]> {
  const first = sights.find((sight) => sight.endpoint === endpoint) ?? sights[0]
  if (!first || sights.length === 1) return []
  const isApart = await Promise.all(sights.map(async (sight) => contradict(first, sight)))
  const others = sights.filter((_sight, i) => isApart[i])
  return others.length > sights.length / 2
    ? sights.filter((sight) => !others.includes(sight))
    : others
}

/** True when the chain of the higher one lacks the other one's newest block. */
async function contradict(one: Sight, other: Sight): Promise<boolean> {
  const [high, low] = one.head.number > other.head.number ? [one, other] : [other, one]
  if (high.head.number === low.head.number) return high.head.hash !== low.head.hash
  const { number: blockNumber } = low.head
  const block = await readBlock(high.endpoint, { blockNumber }).catch(() => undefined)
  return block !== undefined && block.hash !== low.head.hash
}

/** Nothing is booked yet that could be compared: the preferred one of those that answer. */
async function firstToAnswer(tools: DriverTools): Promise<ChainClient | undefined> {
  const { client, following } = tools
  const { sights, silent } = await lookThroughAll(client.endpoints, { number: 0n, hash: '' })
  if (silent > 0 && isTooEarly(tools, DOUBT_UNHEARD_MS)) return undefined
  following.doubtedSince = undefined
  following.endpoint = sights[0]?.endpoint
  return following.endpoint
}
