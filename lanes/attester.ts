import { connectAsLeader, isLedElsewhere, type Db } from '../db/connection/connect.js'
import { findClaimedNonces, findOpenBurns, setAttested, type OpenBurn } from '../db/lanes/burns.js'
import { watchQueue } from '../db/lanes/queue.js'
import { readBookedBlocks, type BookedBlock } from '../db/lanes/reservations.js'
import { ServiceError } from '../domain/errors.js'
import { isExpired, type AttestedMessage, type Attestations } from '../protocols/bridges/bridge.js'
import { pause, repeat } from './repeat.js'
import type { Registry } from '../chains/registry.js'
import type { Listener } from '../db/connection/listen.js'
import type { PartLog } from '../log.js'

/** Namespace of the advisory lock by which one process asks for all. */
const ATTESTER_LOCK = 7_704
/** Announcements may be lost: so often the rows are looked at, which shows that the leader lives, too. */
const LOOK_MS = 1_000
/** A service that hangs holds up so many questions at most, each until its own time is over. */
const MOST_QUESTIONS = 16
/** Questions within the shortest usual time. An attestation takes seconds or a quarter of an hour. */
const QUESTIONS = 20
/** Shortest and longest pause between two questions about a transaction, and when it is late: after twice its time. */
const polls = [50, 5_000] as const
const latePolls = [5_000, 15 * 60_000] as const
const PATIENCE = 2
/** The same once a message has expired. The new one is there at once, if the service does what it is asked for. */
const renewalPauses = [250, 15 * 60_000] as const

/** `url`: the database without a pooler in between. */
export type Attesting = {
  url: string
  attestations: Attestations
  registry: Registry
  listener: Listener
  log: PartLog
}

/** When a transaction is asked about next, Unix time in ms, and how often something of it was expired so far. */
type Turn = { nextAt: number; renewals: number }

type Desk = Pick<Attesting, 'attestations' | 'registry' | 'log'> & {
  /** The leader's session. */
  db: Db
  /** By transaction. */
  turns: Map<string, Turn>
  underWay: Map<string, Promise<void>>
  /** Whether the service was silent the last time. */
  seen: { silent: boolean }
}

/**
 * Asks for the attestation of every burn until it is stored, and for a new one when it expires before it is
 * minted, until the signal aborts. What was burned is never given up. One process leads at a time.
 */
export async function runAttester(attesting: Attesting, stopping: AbortSignal): Promise<void> {
  const { url, listener, ...tools } = attesting
  const db = connectAsLeader(url, ATTESTER_LOCK, 0)
  const desk: Desk = {
    ...{ ...tools, db, turns: new Map(), underWay: new Map(), seen: { silent: false } },
  }
  const confirmed = watchQueue(listener, stopping, ['confirmed'])
  const askNext = async () => {
    const wake = confirmed(LOOK_MS)
    const restMs = await askDue(desk)
    await Promise.race([wake, pause(restMs, stopping), ...desk.underWay.values()])
  }
  try {
    await repeat(askNext, (error) => tell(desk, error), stopping)
    await Promise.all(desk.underWay.values())
  } finally {
    await db.destroy()
  }
}

/**
 * Begins to ask about every transaction whose turn it is.
 *
 * @returns Milliseconds until the next one's.
 */
async function askDue(desk: Desk): Promise<number> {
  const { turns, underWay } = desk
  const transactions = await findTransactions(desk)
  const keys = new Set(transactions.map(({ key }) => key))
  for (const key of turns.keys()) if (!keys.has(key)) turns.delete(key)
  const nextAt = ({ key }: BurnTransaction) => turns.get(key)?.nextAt ?? 0
  const waiting = transactions
    .filter(({ key }) => !underWay.has(key))
    .sort((a, b) => nextAt(a) - nextAt(b))
  for (const one of waiting) {
    if (underWay.size >= MOST_QUESTIONS) return LOOK_MS
    const restMs = nextAt(one) - Date.now()
    if (restMs > 0) return Math.min(restMs, LOOK_MS)
    const asking = ask(desk, one).finally(() => underWay.delete(one.key))
    underWay.set(one.key, asking)
  }
  return LOOK_MS
}

/** A burn without a message, or with one that has expired. */
type NeedyBurn = OpenBurn & { usualSeconds: [lower: number, upper: number]; hasExpired: boolean }
/** Burns of one transaction, of which the service tells in one answer. */
type BurnTransaction = { key: string; sourceDomain: number; txHash: string; burns: NeedyBurn[] }

async function findTransactions(desk: Desk): Promise<BurnTransaction[]> {
  const { db } = desk
  const [burns, booked] = await Promise.all([findOpenBurns(db), readBookedBlocks(db)])
  const found = new Map<string, BurnTransaction>()
  for (const burn of burns.flatMap((one) => findNeed(desk, booked, one))) {
    const { sourceDomain, txHash } = burn
    const key = `${sourceDomain}/${txHash}`
    const one = found.get(key) ?? { key, sourceDomain, txHash, burns: [] }
    one.burns.push(burn)
    found.set(key, one)
  }
  return [...found.values()]
}

/** None when the burn has what it needs, or when it belongs to chains of another deployment. */
function findNeed(desk: Desk, booked: BookedBlock[], burn: OpenBurn): NeedyBurn[] {
  const { bridge } = desk.attestations
  const { chains } = desk.registry
  const { sent, message } = burn
  const source = chains.find(({ chainId }) => chainId === Number(burn.chainId))
  const destination = chains.find((chain) => bridge.leadsTo(chain, sent))
  if (!source || !destination) return []
  const head = booked.find(({ chainId }) => Number(chainId) === destination.chainId)
  const hasExpired = message !== null && isExpired(bridge.readMessage(message), head?.number ?? 0n)
  if (message !== null && !hasExpired) return []
  const { speed } = bridge.readMessage(sent)
  return [{ ...burn, hasExpired, usualSeconds: bridge.usualSeconds(source, speed) }]
}

/** Asks about one transaction, and says when next. Never throws: one that fails holds up no other. */
async function ask(desk: Desk, transaction: BurnTransaction): Promise<void> {
  const { turns, seen, log } = desk
  const { key, burns } = transaction
  try {
    await storeAttested(desk, transaction)
    if (seen.silent) log.info({}, 'the attestation service answers again')
    seen.silent = false
  } catch (error) {
    tell(desk, error)
  }
  const before = turns.get(key)?.renewals ?? 0
  const renewals = burns.some(({ hasExpired }) => hasExpired) ? before + 1 : before
  const pauses = burns.map((burn) => (burn.hasExpired ? renewalPause(renewals) : pollPause(burn)))
  turns.set(key, { nextAt: Date.now() + Math.min(...pauses), renewals })
}

async function storeAttested(
  desk: Desk,
  { sourceDomain, txHash, burns }: BurnTransaction,
): Promise<void> {
  const { db, attestations, log } = desk
  const messages = await attestations.readMessages(sourceDomain, txHash)
  // One after the other: a message that one burn has claimed is not another's.
  for (const burn of burns) {
    const { operationId } = burn
    const own = await findOwn(desk, burn, messages)
    if (!own) continue
    if (own.message !== burn.message) {
      await setAttested(db, operationId, own)
      log.info({ operation: operationId, nonce: own.eventNonce }, 'attested')
    } else if (burn.hasExpired) {
      await attestations.reattest(own.eventNonce)
      log.info({ operation: operationId, nonce: own.eventNonce }, 'expired, to be attested anew')
    }
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
  // Two burns of one transaction may be alike: each has a message of its own.
  const nonces = found.map(({ eventNonce }) => eventNonce)
  const claimed = await findClaimedNonces(db, burn, nonces)
  // What was told once stays, a mint of it may be on its way; unless the burn is in another transaction now.
  const isKnown = messages.some(({ eventNonce }) => eventNonce.toLowerCase() === burn.eventNonce)
  return found.find(({ eventNonce }) =>
    isKnown ? eventNonce === burn.eventNonce : !claimed.includes(eventNonce),
  )
}

const within = (ms: number, [least, most]: readonly [number, number]) =>
  Math.min(Math.max(ms, least), most)

/** The older a burn is the more rarely, and more rarely yet when it takes longer than usual. */
function pollPause({ burnedAt, usualSeconds: [least, most] }: NeedyBurn): number {
  const ageMs = burnedAt ? Date.now() - burnedAt.getTime() : 0
  const share = Math.max(ageMs / 10, (least * 1_000) / QUESTIONS)
  return within(share, ageMs < PATIENCE * most * 1_000 ? polls : latePolls)
}

const renewalPause = (renewals: number) => within(renewalPauses[0] * renewals ** 2, renewalPauses)

/** A service that is silent is asked again, and its silence is told once. */
function tell({ log, seen }: Desk, error: unknown): void {
  if (isLedElsewhere(error)) return
  const isSilence = error instanceof ServiceError && error.code === 'NETWORK_ERROR'
  if (!isSilence) log.warn({ err: error }, 'asking for attestations failed')
  else if (!seen.silent) log.warn({ err: error }, 'the attestation service does not answer')
  if (isSilence) seen.silent = true
}
