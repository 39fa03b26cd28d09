import type { ChainClient } from '../evm/connect.js'
import type { Db } from '../db/client/connect.js'
import type { PartLog } from '../runtime/log.js'

/** The preset of every chain. */
const FAILURE_HOLD_SECONDS = 300

/** Blocks indexed at once, linked by their parent hashes. */
export const LINKED_BLOCKS = 20

/** The search for the log of one spent key, downwards from the indexed block. */
export type KeySearch = {
  key: string
  /** Highest block left to search; undefined before a search starts or restarts. */
  next: bigint | undefined
  /** True once a complete search has found nothing, and once that was logged. */
  isEmpty: boolean
  isReported: boolean
  /** Unix time, ms. */
  nextSearchAt: number
}

/** The dependencies of a chain's driver, and its state between rounds. */
export type DriverTools = {
  /** The leader's session of this chain. */
  db: Db
  client: ChainClient
  log: PartLog
  /** When this process last broadcast or withheld each open hash, Unix time in ms. */
  sentAt: Map<string, number>
  /** The search for the log of each spent key, by operation. */
  searches: Map<string, KeySearch>
  seen: {
    /** Hash of the head up to which every block is indexed; the database need not be read for it. */
    head: string
    /** True once assumed finality was logged. */
    isFinalityAssumed: boolean
    /** True while nothing of the chain is open. Its blocks are then indexed without those in between. */
    isIdle: boolean
    /** When the finalized block was last read, on the monotonic clock, ms. */
    finalityAt: number
  }
  /** The endpoint that blocks are read from, and whether it has failed. */
  following: { endpoint: ChainClient | undefined; hasFailed: boolean }
  /** Shortest delay between two reads of the finalized block, ms; 0: it is read with each block. */
  finalityMs: number
  /** Seconds after the confirmation of a failure until its money is free. */
  failureHoldSeconds: number
}

export function createDriverTools(db: Db, client: ChainClient, log: PartLog): DriverTools {
  return {
    db,
    client,
    log,
    sentAt: new Map(),
    searches: new Map(),
    seen: { head: '', isFinalityAssumed: false, isIdle: false, finalityAt: -Infinity },
    following: { endpoint: undefined, hasFailed: false },
    finalityMs: 0,
    failureHoldSeconds: FAILURE_HOLD_SECONDS,
  }
}
