import type { Db } from './connection/connect.js'
import type { StopScope } from './lanes/stops.js'

/** Times are text as Postgres writes them in JSON (ISO 8601 with an offset), numbers of blocks and nonces decimal text. */
export type SystemState = {
  /** `sessions`: connections of that role's processes to the database. None: nobody of it is there. */
  roles: { role: string; sessions: number }[]
  chains: {
    chainId: string
    bookedBlock: string
    finalizedBlock: string
    bookedAt: string
    /** Operations that wait to be signed, the oldest since when, and how many are signed and not mined. */
    waiting: number
    waitingSince: string | null
    sent: number
  }[]
  lanes: {
    chainId: string
    address: string
    nextNonce: string
    /** Transactions that are not mined, the oldest since when. */
    open: number
    openSince: string | null
    drySince: string | null
  }[]
  /** What operators have stopped. */
  stops: { scope: StopScope; subject: string; since: string; by: string; why: string }[]
  /** The latest acts of operators, the newest first. */
  acts: { at: string; actor: string; action: string; subject: string; why: string }[]
  /** The intents that are late for the longest time. */
  late: { intentId: string; accountId: string; code: string; since: string }[]
}

type Row = { state: { [K in keyof SystemState]: SystemState[K] | null } | null }

/** The state of the whole deployment, over all accounts; undefined for a user who is no operator. */
export async function readSystem(db: Db, userId: string): Promise<SystemState | undefined> {
  const { rows } = await db.raw<{ rows: Row[] }>('select read_system(?) as state', [userId])
  const state = rows[0]?.state
  if (!state) return undefined
  const { roles, chains, lanes, stops, acts, late } = state
  return {
    ...{ roles: roles ?? [], chains: chains ?? [], lanes: lanes ?? [] },
    ...{ stops: stops ?? [], acts: acts ?? [], late: late ?? [] },
  }
}
