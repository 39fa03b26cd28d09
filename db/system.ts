import type { Db } from './client/connect.js'
import type { PauseScope } from './pauses.js'

/** Times are ISO 8601 text with an offset, as Postgres writes JSON. Block numbers and nonces are decimal text. */
export type SystemState = {
  /** `sessions`: database connections of the role. Zero: no process of it is running. */
  roles: { role: string; sessions: number }[]
  chains: {
    chainId: string
    indexedBlock: string
    finalizedBlock: string
    indexedAt: string
    /** Operations waiting for a signature, the age of the oldest, and operations that are signed but not mined. */
    waiting: number
    waitingSince: string | null
    sent: number
  }[]
  senders: {
    chainId: string
    address: string
    nextNonce: string
    /** Transactions that are not mined, and the age of the oldest. */
    open: number
    openSince: string | null
    outOfGasSince: string | null
  }[]
  /** Open pauses and freezes. */
  pauses: { scope: PauseScope; subject: string; since: string; by: string; why: string }[]
  /** The latest entries of the audit log, the newest first. */
  auditLog: { at: string; actor: string; action: string; subject: string; why: string }[]
  /** The intents with the longest delays. */
  late: { intentId: string; accountId: string; code: string; since: string }[]
}

type SystemRow = { state: { [K in keyof SystemState]: SystemState[K] | null } | null }

/**
 * The state of the deployment over all accounts. Undefined for users who are not operators.
 *
 * @param tokenHash - SHA-256 of the token of their session.
 */
export async function readSystem(db: Db, tokenHash: Buffer): Promise<SystemState | undefined> {
  const { rows } = await db.raw<{ rows: SystemRow[] }>('select read_system(?) as state', [
    tokenHash,
  ])
  const state = rows[0]?.state
  if (!state) return undefined
  const { roles, chains, senders, pauses, auditLog, late } = state
  return {
    ...{ roles: roles ?? [], chains: chains ?? [], senders: senders ?? [] },
    ...{ pauses: pauses ?? [], auditLog: auditLog ?? [], late: late ?? [] },
  }
}
