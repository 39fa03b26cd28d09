import type { Db } from './connection/connect.js'

/** Why an operator acts, and who it is. */
export type Order = { by: string; why: string }

/** An act of an operator, as it is kept. */
export type AuditEvent = { at: Date; actor: string; action: string; subject: string; why: string }

/**
 * Keeps an act of an operator, in the transaction that does it.
 *
 * @returns The number of its row.
 */
export async function recordAct(
  trx: Db,
  { action, subject }: Pick<AuditEvent, 'action' | 'subject'>,
  { by, why }: Order,
): Promise<string> {
  const [event] = await trx('audit_event')
    .insert({ actor: by, action, subject, why })
    .returning<{ id: bigint }[]>('id')
  if (!event) throw new Error('The act was not recorded.')
  return event.id.toString()
}

/** The latest acts, the newest first. */
export async function readAuditEvents(db: Db, limit: number): Promise<AuditEvent[]> {
  return db('audit_event')
    .orderBy('id', 'desc')
    .limit(limit)
    .select<AuditEvent[]>('at', 'actor', 'action', 'subject', 'why')
}
