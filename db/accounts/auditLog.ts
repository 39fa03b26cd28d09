import { selectScoped } from '../client/scope.js'
import { sliced, type Slice } from '../client/slice.js'
import type { Db } from '../client/connect.js'

/** An entry of the audit log of members. */
export type MemberAction = {
  id: string
  at: Date
  userId: string
  /** Null for a former member. */
  email: string | null
  /** Such as `key create` or `member role`. */
  action: string
  /** Id of the key, member or invitation. */
  subject: string
  detail: string | null
}

/** The audit log of members of an account, newest first: the slice plus one. */
export async function listMemberActions(
  db: Db,
  accountId: string,
  slice: Slice,
): Promise<MemberAction[]> {
  const entries = db('member_action as a')
    .leftJoin('app_user as u', 'u.id', 'a.user_id')
    .where('a.account_id', accountId)
  const query = sliced(entries, 'a.id', slice).select(
    ...['a.id', 'a.at', 'a.user_id as userId', 'u.email', 'a.action', 'a.subject', 'a.detail'],
  )
  const rows = await selectScoped<Omit<MemberAction, 'id'> & { id: bigint }>(db, accountId, query)
  return rows.map((row) => ({ ...row, id: String(row.id) }))
}
