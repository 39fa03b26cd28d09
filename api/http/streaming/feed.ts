import {
  isBefore,
  type EventFilter,
  type PlacedEvent,
  type Position,
} from '../../../db/intents/events.js'
import { readNews } from '../../../db/intents/news.js'
import { RETRY_MS } from '../../../durations.js'
import type { Db } from '../../../db/connection/connect.js'
import type { Log } from '../../../log.js'

/** Events of one account that are read at once. */
const NEWS_LIMIT = 500
/** How soon it is asked again for what another transaction still holds back, and how seldom at last. */
const HELD_MS = { first: 5, last: 200 }

/** Whoever wants to hear of an account, or of some of its events. */
type Subscriber = { filter: EventFilter; onEvents(events: PlacedEvent[]): void }
type Hearer = Subscriber & { from: Position }
/** An account that somebody hears of; all before `tail` has been passed on. */
type Open = { tail: Position; hearers: Set<Hearer> }

/** The accounts of which somebody hears in this process, and what of theirs is to be read. */
type Accounts = { open: Map<string, Open>; stale: Set<string>; later: Set<string> }

/**
 * Passes on what happens in accounts, in the order in which it is told, to whoever hears of them in this process.
 * However many hear, what is new is read by one statement.
 */
export function createFeed(db: Db, log: Log) {
  const accounts: Accounts = { open: new Map(), stale: new Set(), later: new Set() }
  const wake = createReader(accounts, { db, log })
  return {
    wake,
    /**
     * Hears of what comes after `from`, up to which all has been read.
     *
     * @returns A function that ends it; undefined when others were told already what comes after `from`: read on.
     */
    join(accountId: string, from: Position, subscriber: Subscriber): (() => void) | undefined {
      const known = accounts.open.get(accountId)
      if (known && isBefore(from, known.tail)) return undefined
      const hearer = { ...subscriber, from }
      if (known) known.hearers.add(hearer)
      else {
        accounts.open.set(accountId, { tail: from, hearers: new Set([hearer]) })
        // What was announced before somebody heard.
        wake(accountId)
      }
      return () => {
        const { hearers } = accounts.open.get(accountId) ?? {}
        if (hearers?.delete(hearer) && hearers.size === 0) accounts.open.delete(accountId)
      }
    },
  }
}
export type Feed = ReturnType<typeof createFeed>

/** @returns Has an account read as soon as may be; without one, all of them. */
function createReader(accounts: Accounts, { db, log }: { db: Db; log: Log }) {
  const { open, stale, later } = accounts
  let timer: NodeJS.Timeout | undefined
  let laterMs = HELD_MS.first
  let isReading = false

  function wake(accountId?: string): void {
    const woken = accountId === undefined ? open.keys() : [accountId]
    for (const one of woken) if (open.has(one)) stale.add(one)
    if (!isReading && stale.size > 0) void readStale()
  }

  async function readStale(): Promise<void> {
    isReading = true
    try {
      while (stale.size > 0) await readRound(db, accounts)
      laterMs = later.size > 0 ? Math.min(2 * laterMs, HELD_MS.last) : HELD_MS.first
    } catch (error) {
      log.warn({ err: error }, 'events not read')
      for (const one of open.keys()) later.add(one)
      laterMs = RETRY_MS
    } finally {
      isReading = false
    }
    if (later.size > 0) timer ??= setTimeout(readLater, laterMs).unref()
  }

  function readLater(): void {
    timer = undefined
    const again = [...later]
    later.clear()
    for (const one of again) wake(one)
  }

  return wake
}

/** Reads what is stale, by one statement, and passes it on. */
async function readRound(db: Db, { open, stale, later }: Accounts): Promise<void> {
  const wanted = [...stale].flatMap((accountId) => {
    const account = open.get(accountId)
    return account ? [{ accountId, after: account.tail, account }] : []
  })
  stale.clear()
  if (wanted.length === 0) return
  const news = await readNews(db, wanted, NEWS_LIMIT)
  for (const [at, { accountId, account }] of wanted.entries()) {
    const { events = [], horizon = account.tail, isFull, isHeld } = news[at] ?? {}
    account.tail = horizon
    if (isFull) stale.add(accountId)
    if (isHeld) later.add(accountId)
    else later.delete(accountId)
    if (events.length > 0) passOn(account, events)
  }
}

function passOn({ hearers }: Open, events: PlacedEvent[]): void {
  for (const { filter, from, onEvents } of [...hearers]) {
    const own = events.filter((event) => isOf(filter, event) && !isBefore(event, from))
    if (own.length > 0) onEvents(own)
  }
}

const isOf = ({ intentId, walletId, types }: EventFilter, event: PlacedEvent) =>
  (intentId === undefined || intentId === event.intentId) &&
  (walletId === undefined || walletId === event.walletId) &&
  (types === undefined || types.includes(event.type))
