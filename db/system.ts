import type { Db } from './connection/connect.js'
import type { StopScope } from './lanes/stops.js'

/** Times are ISO 8601 text with an offset, as Postgres writes JSON. Block numbers and nonces are decimal text. */
export type SystemState = {
  /** `sessions`: database connections of the role. Zero: no process of it is running. */
  roles: { role: string; sessions: number }[]
  chains: {
    chainId: string
    bookedBlock: string
    finalizedBlock: string
    bookedAt: string
    /** Operations waiting for a signature, the age of the oldest, and operations that are signed but not mined. */
    waiting: number
    waitingSince: string | null
    sent: number
  }[]
  lanes: {
    chainId: string
    address: string
    nextNonce: string
    /** Transactions that are not mined, and the age of the oldest. */
    open: number
    openSince: string | null
    drySince: string | null
  }[]
  /** Open pauses and freezes. */
  stops: { scope: StopScope; subject: string; since: string; by: string; why: string }[]
  /** The latest entries of the audit log, the newest first. */
  acts: { at: string; actor: string; action: string; subject: string; why: string }[]
  /** The intents with the longest delays. */
  late: { intentId: string; accountId: string; code: string; since: string }[]
}

type SystemRow = { state: { [K in keyof SystemState]: SystemState[K] | null } | null }

/** The state of the deployment over all accounts. Undefined for users who are not operators. */
export async function readSystem(db: Db, userId: string): Promise<SystemState | undefined> {
  const { rows } = await db.raw<{ rows: SystemRow[] }>('select read_system(?) as state', [userId])
  const state = rows[0]?.state
  if (!state) return undefined
  const { roles, chains, lanes, stops, acts, late } = state
  return {
    ...{ roles: roles ?? [], chains: chains ?? [], lanes: lanes ?? [] },
    ...{ stops: stops ?? [], acts: acts ?? [], late: late ?? [] },
  }
}
