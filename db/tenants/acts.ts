import { selectScoped } from '../connection/scope.js'
import { sliced, type Slice } from '../connection/slice.js'
import type { Db } from '../connection/connect.js'

/** What a member has done in his account. */
export type MemberAct = {
  id: string
  at: Date
  userId: string
  /** Null for one who is no member any more. */
  email: string | null
  /** `key create`, `member role` and the like. */
  action: string
  /** The id of what it was done to. */
  subject: string
  detail: string | null
}

/** Acts of the members of an account, newest first, and one more than the page has. */
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
