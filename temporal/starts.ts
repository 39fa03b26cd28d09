import { setTimeout as sleep } from 'node:timers/promises'
import { isGrpcServiceError, type Client } from '@temporalio/client'
import { createTurns } from '../db/connection/turns.js'
import { setDispatched } from '../db/intents/status.js'
import { createRoom, type Place } from './room.js'
import { startFunding, startIntent, type FundingStart, type IntentStart } from './start.js'
import type { Db } from '../db/connection/connect.js'
import type { Log } from '../log.js'

/** Under way at once: more would only wait in Temporal, where nobody is asked whose turn it is. */
const MOST_STARTS = 16
/** Of one account: while it has many, those of others begin at once. */
const ACCOUNT_STARTS = 8
/** What has not had its turn by then is the sweeper's, which looks for what is older. */
const PATIENCE_MS = 5_000
/** Between two tries of a start that did not reach Temporal. */
const AGAIN_MS = 100
/** Codes of gRPC for a server that was not reached or has too much to do: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const PASSING = [4, 8, 14]

/** Starts workflows of what is stored. Nobody waits for them: what is not started is the sweeper's. */
export type Starts = {
  /**
   * Resolves when there is room for another intent of an account, whose place is to be left when it was handed over.
   *
   * @throws {ServiceError} UNAVAILABLE when those before it take too long.
   */
  enter(accountId: string): Promise<Pick<Place, 'leave'>>
  intent(start: IntentStart): void
  funding(start: FundingStart): void
  /** Resolves when nothing is under way. */
  settled(): Promise<void>
}

type Tools = { temporal: Client; db: Db; log: Log }
type Start = { facts: object; place?: Place; run: () => Promise<void> }

/**
 * Starts in turns: however many one account has, those of another one wait for few of them. While Temporal is away,
 * those whose turn it is ask for all, so that a moment without it costs a start no more than that moment.
 */
export function createStarts({ temporal, db, log }: Tools): Starts {
  const turns = createTurns({
    share: ACCOUNT_STARTS,
    width: MOST_STARTS,
    patienceMs: PATIENCE_MS,
  })
  const room = createRoom(db)
  const open = new Set<Promise<void>>()
  const begin = (accountId: string, id: string, start: Start) => {
    const tell = (what: string) => (error: unknown) => {
      log.warn({ ...start.facts, err: error }, what)
    }
    const until = Date.now() + PATIENCE_MS
    const run = async () => {
      await start.place?.untilRoom()
      await runUntilReached(start.run, until)
    }
    // Written down when its turn is over: whoever comes next need not wait for that.
    const mark = () => setDispatched(db, id).catch(tell('started workflow not written down yet'))
    const begun = turns
      .run(accountId, run)
      .then(mark, tell('workflow not started yet'))
      .finally(() => {
        start.place?.leave()
        open.delete(begun)
      })
    open.add(begun)
  }
  return {
    enter: room.enter,
    intent(start) {
      const { id, accountId, requestId } = start.intent
      const facts = { intent: id, requestId }
      const place = room.place(accountId)
      begin(accountId, id, { facts, place, run: () => startIntent(temporal, start) })
    },
    funding(start) {
      const { id, accountId } = start.funding
      begin(accountId, id, { facts: { funding: id }, run: () => startFunding(temporal, start) })
    },
    async settled() {
      while (open.size > 0) await Promise.all(open)
    },
  }
}

/** What did not reach Temporal, and may have all the same, is tried again: a workflow that is there is found. */
async function runUntilReached(run: () => Promise<void>, until: number): Promise<void> {
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!isPassing(error) || Date.now() + AGAIN_MS > until) throw error
    }
    await sleep(AGAIN_MS)
  }
}

function isPassing(error: unknown): boolean {
  const { cause = error } = error as { cause?: unknown }
  return isGrpcServiceError(cause) && PASSING.includes(cause.code)
}
