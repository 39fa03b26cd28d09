import {
  isBefore,
  type EventFilter,
  type PlacedEvent,
  type EventPosition,
} from '../../../db/intents/events.js'
import { readNewEvents } from '../../../db/intents/newEvents.js'
import { RETRY_MS } from '../../../runtime/durations.js'
import type { Db } from '../../../db/client/connect.js'
import type { Log } from '../../../runtime/log.js'

/** Maximum number of events of one account per read. */
const EVENT_LIMIT = 500
/** Delay of a retry while an open transaction holds events back, milliseconds. It doubles from `first` to `last`. */
const HELD_MS = { first: 5, last: 200 }

/** Receives the events of an account that match the filter. */
type Subscriber = { filter: EventFilter; onEvents(events: PlacedEvent[]): void }
type PlacedSubscriber = Subscriber & { from: EventPosition }
/** An account with subscribers. All events before `tail` have been delivered. */
type OpenAccount = { tail: EventPosition; subscribers: Set<PlacedSubscriber> }

/** Accounts with subscribers in this process. `stale`: to read now, `later`: to retry. */
type Accounts = { open: Map<string, OpenAccount>; stale: Set<string>; later: Set<string> }

/**
 * Delivers the events of accounts in order to the subscribers in this process. New events are read by one statement
 * for all subscribers.
 */
export function createEventFanOut(db: Db, log: Log) {
  const accounts: Accounts = { open: new Map(), stale: new Set(), later: new Set() }
  const wake = createReader(accounts, { db, log })
  return {
    wake,
    /**
     * Subscribes to the events after `from`. The caller has read all events before it.
     *
     * @returns A function that unsubscribes. Undefined when events after `from` were already delivered to others: the
     * caller must read them first.
     */
    join(accountId: string, from: EventPosition, subscriber: Subscriber): (() => void) | undefined {
      const known = accounts.open.get(accountId)
      if (known && isBefore(from, known.tail)) return undefined
      const placed = { ...subscriber, from }
      if (known) known.subscribers.add(placed)
      else {
        accounts.open.set(accountId, { tail: from, subscribers: new Set([placed]) })
        // Events may have been announced before this subscription.
        wake(accountId)
      }
      return () => {
        const { subscribers } = accounts.open.get(accountId) ?? {}
        if (subscribers?.delete(placed) && subscribers.size === 0) accounts.open.delete(accountId)
      }
    },
  }
}
export type EventFanOut = ReturnType<typeof createEventFanOut>

/** @returns A function that schedules a read of one account, or of all without an argument. */
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

/** Reads all stale accounts by one statement and delivers their events. */
async function readRound(db: Db, { open, stale, later }: Accounts): Promise<void> {
  const wanted = [...stale].flatMap((accountId) => {
    const account = open.get(accountId)
    return account ? [{ accountId, after: account.tail, account }] : []
  })
  stale.clear()
  if (wanted.length === 0) return
  const news = await readNewEvents(db, wanted, EVENT_LIMIT)
  for (const [at, { accountId, account }] of wanted.entries()) {
    const { events = [], horizon = account.tail, isFull, isHeld } = news[at] ?? {}
    account.tail = horizon
    if (isFull) stale.add(accountId)
    if (isHeld) later.add(accountId)
    else later.delete(accountId)
    if (events.length > 0) deliver(account, events)
  }
}

function deliver({ subscribers }: OpenAccount, events: PlacedEvent[]): void {
  for (const { filter, from, onEvents } of [...subscribers]) {
    const own = events.filter((event) => isOf(filter, event) && !isBefore(event, from))
    if (own.length > 0) onEvents(own)
  }
}

const isOf = ({ intentId, walletId, types }: EventFilter, event: PlacedEvent) =>
  (intentId === undefined || intentId === event.intentId) &&
  (walletId === undefined || walletId === event.walletId) &&
  (types === undefined || types.includes(event.type))
