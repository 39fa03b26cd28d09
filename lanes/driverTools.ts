import type { ChainClient } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'
import type { BlockId } from '../db/lanes/booking.js'
import type { PartLog } from '../log.js'

/** Blocks booked in one go, linked by their parent hashes, while all goes well. */
export const LINKED_BLOCKS = 50

/** The endpoint that a chain is booked from, and what comparing it with the others has shown. */
export type Following = {
  endpoint: ChainClient | undefined
  /** True when it has failed: it is compared with the others before it is asked again. */
  isLeft: boolean
  /** Rounds since the endpoints were compared, and since the head moved, which was this one. */
  rounds: number
  idle: number
  head: string
  /** Endpoints that had other blocks than what is booked, or than those that were followed. */
  strays: Set<ChainClient>
  /** Since when comparisons do not tell whom to believe because somebody is silent, Unix time in ms. */
  doubtedSince: number | undefined
  /** True once it was told that what is booked is only on a fork, until it is so no more. */
  isForkTold: boolean
}

/** The search for the log of one spent key, downwards from the booked block. */
export type Search = {
  key: string
  /** Highest block of what is left to search; undefined before it begins, or begins anew. */
  next: bigint | undefined
  /** True once all of it was searched and nothing found, and once that was told. */
  isEmpty: boolean
  isTold: boolean
  /** Unix time in ms. */
  pausedUntil: number
}

/** What a process that drives a chain works with, and what it knows of its earlier rounds. */
export type DriverTools = {
  /** The leader's session of this chain. */
  db: Db
  client: ChainClient
  log: PartLog
  /** When each hash was last sent by this process, Unix time in ms. */
  sentAt: Map<string, number>
  /** Of these, those that were booked as mined since. */
  carried: Set<string>
  /** Where the logs of spent keys are looked for next, by operation. */
  searches: Map<string, Search>
  seen: {
    /** Hash of the head that the database was last seen to have booked: nothing to ask it about then. */
    head: string
    /** What this process has booked last; undefined: the database is asked. */
    booked: BlockId | undefined
    /** How often the logs of a block were empty though its bloom speaks of some, by its hash. */
    emptyReads: Map<string, number>
    /** Linked blocks read in a round: fewer after rounds that failed. */
    roundBlocks: number
    /** True once it was told that finality is assumed. */
    isFinalityAssumed: boolean
    /** When it was asked last what is final, as the clock runs. */
    finalityAt: number
    /** When spent keys were last looked for, as the clock runs. */
    spentKeysAt: number
  }
  following: Following
  /** How long what is final is not asked again while blocks are booked one by one; 0: it is asked with each. */
  finalityMs: number
}

export function createDriverTools(db: Db, client: ChainClient, log: PartLog): DriverTools {
  return {
    db,
    client,
    log,
    sentAt: new Map(),
    carried: new Set(),
    searches: new Map(),
    seen: {
      head: '',
      booked: undefined,
      emptyReads: new Map(),
      roundBlocks: LINKED_BLOCKS,
      isFinalityAssumed: false,
      finalityAt: -Infinity,
      spentKeysAt: -Infinity,
    },
    following: {
      endpoint: undefined,
      isLeft: false,
      rounds: 0,
      idle: 0,
      head: '',
      strays: new Set(),
      doubtedSince: undefined,
      isForkTold: false,
    },
    finalityMs: 0,
  }
}

/** Since when this process waits for something that it has sent to be mined, Unix time in ms; undefined: for nothing. */
export function openSince({ sentAt, carried }: DriverTools): number | undefined {
  let since: number | undefined
  for (const [hash, at] of sentAt) {
    if (!carried.has(hash) && at < (since ?? Infinity)) since = at
  }
  return since
}

/** Has everything that is open sent again at once. */
export function forgetSends({ sentAt, carried }: DriverTools): void {
  sentAt.clear()
  carried.clear()
}
