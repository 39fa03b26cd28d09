import { crashPoint } from '../crashPoints.js'
import { connectAsLeader, isLedElsewhere, type Db } from '../db/connection/connect.js'
import { findClaimedNonces, findOpenBurns, setAttested, type OpenBurn } from '../db/lanes/burns.js'
import { watchQueue } from '../db/lanes/queue.js'
import { ServiceError } from '../domain/errors.js'
import {
  isExpired,
  type AttestedMessage,
  type Attestations,
  type BridgeMessage,
} from '../protocols/bridges/bridge.js'
import { watchContractBlocks } from './contractBlocks.js'
import { storeFees } from './fees.js'
import { firstQuestionAt, isLate, pollPause, renewalPause } from './pace.js'
import { remember } from './remember.js'
import { repeat } from './repeat.js'
import type { Chains } from '../chains/connect.js'
import type { Chain } from '../chains/registry.js'
import type { Listener } from '../db/connection/listen.js'
import type { PartLog } from '../log.js'

/** Announcements may be lost: so often the rows are looked at, which shows that the leader lives, too. */
const LOOK_MS = 1_000
/** A service that hangs holds up so many questions at most, each until its own time is over. */
const MOST_QUESTIONS = 8
/** Fees change rarely. A service that is silent is asked for them sooner. */
const FEES_MS = 60_000
const SILENT_FEES_MS = 5_000

/** `url`: the database without a pooler in between. */
export type Attesting = {
  url: string
  attestations: Attestations
  chains: Chains
  listener: Listener
  log: PartLog
}

/** When a transaction is asked about next, Unix time in ms, and how often something of it was expired so far. */
type Turn = { nextAt: number; renewals: number }

type Desk = Pick<Attesting, 'attestations' | 'chains' | 'log'> & {
  /** The leader's session. */
  db: Db
  contractBlock: (chainId: number) => bigint | undefined
  /** What bytes say. Burns are looked at many times a second, and to decode one takes longer than all the rest. */
  readMessage: (message: string) => BridgeMessage
  destinationOf: (sent: string) => Chain | undefined
  /** By transaction. */
  turns: Map<string, Turn>
  underWay: Map<string, Promise<void>>
  fees: { nextAt: number; reading: Promise<void> | undefined }
  /** Whether the service was silent the last time, and whether it wanted to be left alone. */
  seen: { silent: boolean; leftAlone: boolean }
}

/**
 * Asks for the attestation of every burn until it is stored, and for a new one when it expires before it is
 * minted, until the signal aborts; and for the fees of the bridge. What was burned is never given up. One
 * process leads at a time, so that all that is asked of the service keeps to one pace.
 */
export async function runAttester(attesting: Attesting, stopping: AbortSignal): Promise<void> {
  const { url, listener, ...tools } = attesting
  const db = connectAsLeader(url, 'attester')
  const { chains, attestations } = tools
  const { bridge } = attestations
  const seen = { silent: false, leftAlone: false }
  const fees = { nextAt: 0, reading: undefined }
  const desk: Desk = {
    ...{ ...tools, db, fees, seen, turns: new Map(), underWay: new Map() },
    contractBlock: watchContractBlocks(chains),
    readMessage: remember(bridge.readMessage),
    destinationOf: remember((sent) =>
      chains.list.map(({ chain }) => chain).find((chain) => bridge.leadsTo(chain, sent)),
    ),
  }
  const confirmed = watchQueue(listener, stopping, ['confirmed'])
  const askNext = async () => {
    const heard = confirmed(LOOK_MS)
    await askDue(desk)
    await untilNext(desk, heard)
  }
  try {
    await repeat(askNext, (error) => tell(desk, error), stopping)
    await Promise.all([...desk.underWay.values(), desk.fees.reading])
  } finally {
    await db.destroy()
  }
}

/** Waits until a question may begin, one that is under way ends, or there is something new. */
async function untilNext(desk: Desk, heard: Promise<unknown>): Promise<void> {
  const { turns, underWay, attestations } = desk
  const waiting = [...turns].filter(([key]) => !underWay.has(key))
  const isFull = underWay.size >= MOST_QUESTIONS
  const next = isFull ? Infinity : Math.min(...waiting.map(([, { nextAt }]) => nextAt))
  const ms = Math.max(next - Date.now(), attestations.restMs())
  let wake: NodeJS.Timeout | undefined
  const due = new Promise<void>((resolve) => {
    if (ms < LOOK_MS) wake = setTimeout(resolve, ms)
  })
  await Promise.race([heard, due, ...underWay.values()])
  clearTimeout(wake)
}

/** Begins to ask about every transaction whose turn it is, as far as there is room and the service may be asked. */
async function askDue(desk: Desk): Promise<void> {
  const { turns, underWay, attestations } = desk
  const transactions = await findTransactions(desk)
  const keys = new Set(transactions.map(({ key }) => key))
  for (const key of turns.keys()) if (!keys.has(key)) turns.delete(key)
  const due = transactions
    .map((one) => ({ one, ...turnOf(desk, one), isLate: one.burns.every(isLate) }))
    .filter(({ one, nextAt }) => !underWay.has(one.key) && nextAt <= Date.now())
    // What is late has little hope: it never holds up what is in time.
    .sort((a, b) => Number(a.isLate) - Number(b.isLate) || a.nextAt - b.nextAt)
  for (const { one } of due) {
    // One that begins waits for its turn; where that is far off the service wants to be left alone.
    if (underWay.size >= MOST_QUESTIONS || attestations.restMs() >= LOOK_MS) break
    const asking = ask(desk, one).finally(() => underWay.delete(one.key))
    underWay.set(one.key, asking)
  }
  readFeesWhenDue(desk)
}

function turnOf({ turns }: Desk, { key, burns }: BurnTransaction): Turn {
  const known = turns.get(key)
  if (known) return known
  const turn = { nextAt: Math.min(...burns.map(firstQuestionAt)), renewals: 0 }
  turns.set(key, turn)
  return turn
}

/** Called after a query of the leader's session only: who does not lead asks nothing. */
function readFeesWhenDue(desk: Desk): void {
  const { db, attestations, chains, fees } = desk
  if (fees.reading || fees.nextAt > Date.now()) return
  const reading = async () => {
    const failures = await storeFees(db, attestations, chains)
    for (const error of failures) tell(desk, error)
    const isRead = failures.length === 0
    fees.nextAt = Date.now() + (isRead ? FEES_MS : Math.max(SILENT_FEES_MS, attestations.restMs()))
    fees.reading = undefined
  }
  fees.reading = reading()
}

/** A burn without a message, or with one that has expired. */
type NeedyBurn = OpenBurn & { usualSeconds: [lower: number, upper: number]; hasExpired: boolean }
/** Burns of one transaction, of which the service tells in one answer. */
type BurnTransaction = { key: string; sourceDomain: number; txHash: string; burns: NeedyBurn[] }

async function findTransactions(desk: Desk): Promise<BurnTransaction[]> {
  const burns = await findOpenBurns(desk.db)
  const found = new Map<string, BurnTransaction>()
  for (const burn of burns.flatMap((one) => findNeed(desk, one))) {
    const { sourceDomain, txHash } = burn
    const key = `${sourceDomain}/${txHash}`
    const one = found.get(key) ?? { key, sourceDomain, txHash, burns: [] }
    one.burns.push(burn)
    found.set(key, one)
  }
  return [...found.values()]
}

/** None when the burn has what it needs, or when it belongs to chains of another deployment. */
function findNeed(desk: Desk, burn: OpenBurn): NeedyBurn[] {
  const { chains, attestations, readMessage, destinationOf } = desk
  const { sent, message } = burn
  const source = chains.list.find(({ chain }) => chain.chainId === Number(burn.chainId))?.chain
  const destination = destinationOf(sent)
  if (!source || !destination) return []
  const hasExpired = message !== null && hasExpiredOn(desk, destination.chainId, message)
  if (message !== null && !hasExpired) return []
  const { speed } = readMessage(sent)
  return [{ ...burn, hasExpired, usualSeconds: attestations.bridge.usualSeconds(source, speed) }]
}

/** A chain is asked only when there is something to judge. What cannot be judged yet is taken for good. */
function hasExpiredOn(
  { readMessage, contractBlock }: Desk,
  chainId: number,
  message: string,
): boolean {
  const attested = readMessage(message)
  return attested.expirationBlock !== 0n && isExpired(attested, contractBlock(chainId) ?? 0n)
}

/** Asks about one transaction, and says when next. Never throws: one that fails holds up no other. */
async function ask(desk: Desk, transaction: BurnTransaction): Promise<void> {
  const { turns } = desk
  const { key, burns } = transaction
  const messages = await readMessages(desk, transaction)
  // One after the other: a message that one burn has claimed is not another's.
  for (const burn of burns) {
    await serve(desk, burn, messages).catch((error: unknown) => {
      tell(desk, error)
    })
  }
  const before = turns.get(key)?.renewals ?? 0
  const renewals = burns.some(({ hasExpired }) => hasExpired) ? before + 1 : before
  const pauses = burns.map((burn) =>
    burn.hasExpired ? renewalPause(burn, renewals) : pollPause(burn),
  )
  turns.set(key, { nextAt: Date.now() + Math.min(...pauses), renewals })
}

async function readMessages(
  desk: Desk,
  { sourceDomain, txHash }: BurnTransaction,
): Promise<AttestedMessage[]> {
  const { attestations, seen, log } = desk
  try {
    const messages = await attestations.readMessages(sourceDomain, txHash)
    if (seen.silent || seen.leftAlone) log.info({}, 'the attestation service answers again')
    seen.silent = false
    seen.leftAlone = false
    return messages
  } catch (error) {
    tell(desk, error)
    return []
  }
}

/** Stores the message of a burn, or asks for a new one. */
async function serve(desk: Desk, burn: NeedyBurn, messages: AttestedMessage[]): Promise<void> {
  const { db, attestations, log } = desk
  const { operationId } = burn
  const own = await findOwn(desk, burn, messages)
  if (!own) return
  const facts = { operation: operationId, nonce: own.eventNonce }
  if (own.message !== burn.message) {
    crashPoint('attester: before the message is stored')
    await setAttested(db, operationId, own)
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

/** A service that is silent is asked again, and its silence is told once; so is that it was asked too much. */
function tell({ log, seen }: Desk, error: unknown): void {
  if (isLedElsewhere(error)) return
  if (!(error instanceof ServiceError && error.code === 'NETWORK_ERROR')) {
    log.warn({ err: error }, 'asking for attestations failed')
    return
  }
  const { retryAfter } = error.details
  if (retryAfter === undefined) {
    if (!seen.silent) log.warn({ err: error }, 'the attestation service does not answer')
    seen.silent = true
  } else {
    if (!seen.leftAlone) log.warn({ retryAfter }, 'the attestation service wants to be left alone')
    seen.leftAlone = true
  }
}
