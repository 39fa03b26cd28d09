import type { ChainClient } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'
import type { PartLog } from '../log.js'

/** Blocks booked in one go, linked by their parent hashes. */
export const LINKED_BLOCKS = 20

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
  /** When each hash of what is open was last sent by this process, Unix time in ms. */
  sentAt: Map<string, number>
  /** Where the logs of spent keys are looked for next, by operation. */
  searches: Map<string, Search>
  seen: {
    /** Hash of the head up to which everything is booked: nothing to ask the database about then. */
    head: string
    /** True once it was told that finality is assumed. */
    isFinalityAssumed: boolean
    /** When it was asked last what is final, as the clock runs. */
    finalityAt: number
  }
  /** The endpoint that the chain is booked from, and whether it has failed. */
  following: { endpoint: ChainClient | undefined; hasFailed: boolean }
  /** How long what is final is not asked again while blocks are booked one by one; 0: it is asked with each. */
  finalityMs: number
}

export function createDriverTools(db: Db, client: ChainClient, log: PartLog): DriverTools {
  return {
    db,
    client,
    log,
    sentAt: new Map(),
    searches: new Map(),
    seen: { head: '', isFinalityAssumed: false, finalityAt: -Infinity },
    following: { endpoint: undefined, hasFailed: false },
    finalityMs: 0,
  }
}
