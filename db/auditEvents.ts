import type { Db } from './client/connect.js'

/** The operator and their reason. */
export type Order = { by: string; why: string }

/** An entry of the audit log. */
export type AuditEvent = {
  at: Date
  actor: string
  action: string
  subject: string
  why: string
  /** The new value of the subject, such as a plan. Null for pauses and freezes. */
  detail: string | null
}

/**
 * Appends to the audit log, in the transaction of the action.
 *
 * @returns The id of the entry.
 */
export async function recordAuditEvent(
  trx: Db,
  { action, subject }: Pick<AuditEvent, 'action' | 'subject'>,
  { by, why }: Order,
): Promise<string> {
  const [event] = await trx('audit_event')
    .insert({ actor: by, action, subject, why })
    .returning<{ id: bigint }[]>('id')
  if (!event) throw new Error('The audit log entry was not stored.')
  return event.id.toString()
}

/** The latest entries of the audit log, the newest first. */
export async function readAuditEvents(db: Db, limit: number): Promise<AuditEvent[]> {
  return db('audit_event')
    .orderBy('id', 'desc')
    .limit(limit)
    .select<AuditEvent[]>('at', 'actor', 'action', 'subject', 'why', 'detail')
}

/** Names the operator of a transaction and their reason, for the entries that its changes append to the audit log. */
export async function attribute(trx: Db, { by, why }: Partial<Order>): Promise<void> {
  await trx.raw(`select set_config('app.operator', ?, true), set_config('app.why', ?, true)`, [
    ...[by ?? '', why ?? ''],
  ])
}
