import { selectScoped } from '../connection/scope.js'
import { sliced, type Slice } from '../connection/slice.js'
import type { Db } from '../connection/connect.js'

/** An entry of the audit log of members. */
export type MemberAct = {
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
export async function listActs(db: Db, accountId: string, slice: Slice): Promise<MemberAct[]> {
  const acts = db('member_act as a')
    .leftJoin('app_user as u', 'u.id', 'a.user_id')
    .where('a.account_id', accountId)
  const query = sliced(acts, 'a.id', slice).select(
    ...['a.id', 'a.at', 'a.user_id as userId', 'u.email', 'a.action', 'a.subject', 'a.detail'],
  )
  const rows = await selectScoped<Omit<MemberAct, 'id'> & { id: bigint }>(db, accountId, query)
  return rows.map((row) => ({ ...row, id: String(row.id) }))
}
