import { crashPoint } from '../crashPoints.js'
import { connectAsLeader, isLedElsewhere, type Db } from '../db/connection/connect.js'
import { findClaimedNonces, findOpenBurns, setAttested, type OpenBurn } from '../db/lanes/burns.js'
import { watchQueue } from '../db/lanes/queue.js'
import { ServiceError } from '../domain/errors.js'
import { backoffMs, LOOK_MS, MINUTE_MS, REQUEST_TIMEOUT_MS, RETRY_MS } from '../durations.js'
import { isExpired, type AttestedMessage, type Attestations } from '../protocols/bridges/bridge.js'
import { watchContractBlocks } from './contractBlocks.js'
import { storeFees } from './fees.js'
import { pause, repeat } from './repeat.js'
import { atMost } from '../timeout.js'
import type { Chains } from '../chains/connect.js'
import type { Chain } from '../chains/registry.js'
import type { Listener } from '../db/connection/listen.js'
import type { PartLog } from '../log.js'

/** Shortest pause between two looks at the turns. Eight questions each time are more than may be asked. */
const TURN_MS = 50
/** A service that hangs holds up so many questions at most, each for as long as a request may take. */
const MOST_QUESTIONS = 8
/** What is waited for, ms. Circle advises pauses of 5 s or longer between two questions about a burn. */
const usualPauses = { shortestMs: 5_000, lookMs: LOOK_MS, retryMs: RETRY_MS }
const LONGEST_PAUSE_MS = 15 * MINUTE_MS
/** Pause between two questions about a burn, of its age: an attestation is found late by a twentieth at most. */
const PAUSE_SHARE = 1 / 20

/** `url`: the database without a pooler in between. `pauses`: others than the usual. */
export type Attesting = {
  url: string
  attestations: Attestations
  chains: Chains
  listener: Listener
  log: PartLog
  pauses?: typeof usualPauses
}

/** When a transaction is looked at next, Unix time in ms, and how often something of it was expired so far. */
type Turn = { nextAt: number; renewals: number }

type Desk = Required<Pick<Attesting, 'attestations' | 'chains' | 'log' | 'pauses'>> & {
  /** The leader's session. */
  db: Db
  contractBlock: (chainId: number) => bigint | undefined
  /** By transaction. */
  turns: Map<string, Turn>
  underWay: Map<string, Promise<void>>
  /** What was logged last about the service while it does not answer. */
  complaint: 'silent' | 'left alone' | undefined
}

/**
 * Asks for the attestation of every burn until it is stored, and for a new one when it expires before it is
 * minted, until the signal aborts; and for the fees of the bridge. What was burned is never given up. One
 * process leads at a time, so that all questions to the service keep to one pace.
 */
export async function runAttester(attesting: Attesting, stopping: AbortSignal): Promise<void> {
  const { url, listener, attestations, chains, log, pauses = usualPauses } = attesting
  const { lookMs, retryMs } = pauses
  const db = connectAsLeader(url, 'attester')
  const contractBlock = watchContractBlocks(chains, lookMs)
  const known = { turns: new Map(), underWay: new Map(), complaint: undefined }
  const desk: Desk = { attestations, chains, log, pauses, db, contractBlock, ...known }
  const confirmed = watchQueue(listener, stopping, ['confirmed'])
  const askNext = async () => {
    // Before it looks, so that nothing is missed that is announced meanwhile.
    const news = confirmed(lookMs)
    await askDue(desk)
    await atMost(news, untilTurn(desk))
  }
  const readFees = async () => {
    await pause(await keepFees(desk), stopping)
  }
  const complain = (error: unknown) => {
    note(desk, error)
  }
  try {
    await Promise.all([
      repeat(askNext, complain, { stopping, retryMs }),
      repeat(readFees, complain, { stopping, retryMs }),
    ])
    await Promise.all(desk.underWay.values())
  } finally {
    await db.destroy()
  }
}

/** Milliseconds until a turn comes and the service may be asked, a second at most. */
function untilTurn({ turns, attestations, pauses: { lookMs } }: Desk): number {
  const next = Math.min(...[...turns.values()].map(({ nextAt }) => nextAt))
  return Math.min(Math.max(next - Date.now(), attestations.restMs(), TURN_MS), lookMs)
}

/** Begins to ask about every transaction whose turn it is, as far as there is room and the service may be asked. */
async function askDue(desk: Desk): Promise<void> {
  const { db, turns, underWay, attestations } = desk
  const transactions = groupByTransaction(await findOpenBurns(db))
  for (const key of turns.keys()) if (!transactions.has(key)) turns.delete(key)
  const due = [...transactions]
    .map(([key, burns]) => ({ key, burns, turn: turnOf(desk, key, burns) }))
    .filter(({ key, turn }) => turn.nextAt <= Date.now() && !underWay.has(key))
    .sort((a, b) => a.turn.nextAt - b.turn.nextAt)
  for (const { key, burns, turn } of due) {
    // A question waits for its turn; where that is far off the service wants to be left alone.
    if (underWay.size >= MOST_QUESTIONS || attestations.restMs() >= TURN_MS) return
    const [first, ...others] = burns.flatMap((burn) => needOf(desk, burn))
    if (first?.hasExpired || others.some(({ hasExpired }) => hasExpired)) turn.renewals += 1
    turn.nextAt = Date.now() + Math.min(...burns.map((burn) => pauseOf(desk, burn, turn.renewals)))
    if (!first) continue
    const asking = ask(desk, key, [first, ...others]).finally(() => underWay.delete(key))
    underWay.set(key, asking)
  }
}

/** Burns of one transaction share a question. */
function groupByTransaction(burns: OpenBurn[]): Map<string, OpenBurn[]> {
  const found = new Map<string, OpenBurn[]>()
  for (const burn of burns) {
    const key = `${burn.sourceDomain}/${burn.txHash}`
    found.set(key, [...(found.get(key) ?? []), burn])
  }
  return found
}

function turnOf(desk: Desk, key: string, burns: OpenBurn[]): Turn {
  const known = desk.turns.get(key)
  if (known) return known
  // It was never attested sooner.
  const firsts = burns.map((burn) => (routeOf(desk, burn)?.usualMs ?? 0) - ageMs(burn))
  const turn = { nextAt: Date.now() + Math.min(...firsts), renewals: 0 }
  desk.turns.set(key, turn)
  return turn
}

const ageMs = ({ burnedAt }: OpenBurn) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

/** Where a burn leads, and how soon it can be attested; undefined between chains of another deployment. */
function routeOf(
  { chains, attestations: { bridge } }: Desk,
  { chainId, sent }: OpenBurn,
): { destination: Chain; usualMs: number } | undefined {
  const list = chains.list.map(({ chain }) => chain)
  const source = list.find((chain) => chain.chainId === Number(chainId))
  const destination = list.find((chain) => bridge.leadsTo(chain, sent))
  if (!source || !destination) return undefined
  const [usualSeconds] = bridge.usualSeconds(source, bridge.readMessage(sent).speed)
  return { destination, usualMs: 1_000 * usualSeconds }
}

/** A burn without a message, or with one that has expired. */
type NeedyBurn = OpenBurn & { hasExpired: boolean }

function needOf(desk: Desk, burn: OpenBurn): NeedyBurn[] {
  const route = routeOf(desk, burn)
  if (!route) return []
  if (burn.message === null) return [{ ...burn, hasExpired: false }]
  const attested = desk.attestations.bridge.readMessage(burn.message)
  // A chain is asked only when there is something to judge. What cannot be judged yet counts as valid.
  if (attested.expirationBlock === 0n) return []
  const block = desk.contractBlock(route.destination.chainId) ?? 0n
  return isExpired(attested, block) ? [{ ...burn, hasExpired: true }] : []
}

/**
 * Milliseconds until a burn is looked at again: the more the older it is, or the more often it has expired. Where
 * bridges are quicker than the shortest pause, their own time counts.
 */
function pauseOf(desk: Desk, burn: OpenBurn, renewals: number): number {
  const { shortestMs, retryMs } = desk.pauses
  const shortest = Math.min(routeOf(desk, burn)?.usualMs ?? Infinity, shortestMs)
  if (burn.message !== null) return renewals > 0 ? backoffMs(renewals, retryMs) : shortest
  return Math.min(Math.max(ageMs(burn) * PAUSE_SHARE, shortest), LONGEST_PAUSE_MS)
}

/** Asks about the burns of one transaction. Never throws: one that fails holds up no other. */
async function ask(desk: Desk, key: string, burns: [NeedyBurn, ...NeedyBurn[]]): Promise<void> {
  const complain = (error: unknown) => {
    note(desk, error)
  }
  const { sourceDomain, txHash } = burns[0]
  try {
    const messages = await desk.attestations.readMessages(sourceDomain, txHash)
    if (desk.complaint) desk.log.info({}, 'the attestation service answers again')
    desk.complaint = undefined
    // One after the other: a message that one burn has claimed is not another's.
    for (const burn of burns) await serve(desk, { key, burn, messages }).catch(complain)
  } catch (error) {
    complain(error)
  }
}

type Serving = { key: string; burn: NeedyBurn; messages: AttestedMessage[] }

/** Stores the message of a burn, or asks for a new one. */
async function serve(desk: Desk, { key, burn, messages }: Serving): Promise<void> {
  const { db, attestations, log, turns } = desk
  const { operationId } = burn
  const own = await findOwn(desk, burn, messages)
  if (!own) return
  const facts = { operation: operationId, nonce: own.eventNonce }
  if (own.message !== burn.message) {
    crashPoint('attester: before the message is stored')
    await setAttested(db, operationId, own)
    // From now on it is looked at for whether it expires.
    turns.delete(key)
    log.info(facts, 'attested')
  } else if (burn.hasExpired) {
    if (await attestations.reattest(own.eventNonce)) log.info(facts, 'expired, to be attested anew')
    else log.warn(facts, 'expired, and the attestation service does not attest it anew')
  }
}

/** The message of a burn among those of its transaction, once it is attested. */
async function findOwn(
  { db, attestations: { bridge } }: Desk,
  burn: OpenBurn,
  messages: AttestedMessage[],
) {
  const found = messages.flatMap(({ message, attestation }) => {
    if (!message || !attestation || !bridge.isSameMessage(burn.sent, message)) return []
    return [{ eventNonce: bridge.readMessage(message).nonce, message, attestation }]
  })
  if (found.length === 0) return undefined
  // Two burns of one transaction may be alike: each has a message of its own.
  const nonces = found.map(({ eventNonce }) => eventNonce)
  const claimed = await findClaimedNonces(db, burn, nonces)
  // What was told once stays, a mint of it may be on its way; unless the burn is in another transaction now.
  const isKnown = messages.some(({ eventNonce }) => eventNonce.toLowerCase() === burn.eventNonce)
  return found.find(({ eventNonce }) =>
    isKnown ? eventNonce === burn.eventNonce : !claimed.includes(eventNonce),
  )
}

/** Logs that the service does not answer, once until it answers again. Who does not lead has nothing to log. */
function note(desk: Desk, error: unknown): void {
  const { log } = desk
  if (isLedElsewhere(error)) return
  if (!(error instanceof ServiceError && error.code === 'NETWORK_ERROR')) {
    log.warn({ err: error }, 'asking for attestations failed')
    return
  }
  const { retryAfter } = error.details
  const complaint = retryAfter === undefined ? 'silent' : 'left alone'
  if (complaint === desk.complaint) return
  desk.complaint = complaint
  if (complaint === 'silent') log.warn({ err: error }, 'the attestation service does not answer')
  else log.warn({ retryAfter }, 'the attestation service wants to be left alone')
}

/** @returns Milliseconds until the fees are read again: sooner where some could not be read. */
async function keepFees(desk: Desk): Promise<number> {
  // Fails in a process that does not lead: it asks the service nothing.
  await desk.db.raw('select 1')
  const failures = await storeFees(desk.db, desk.attestations, desk.chains)
  for (const error of failures) note(desk, error)
  return failures.length === 0 ? MINUTE_MS : REQUEST_TIMEOUT_MS
}
