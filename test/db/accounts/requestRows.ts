import { firstIdAt, newId } from '../../../db/client/ids.js'
import type { Db } from '../../../db/client/connect.js'
import type { RequestEntry } from '../../../db/usage/requests.js'

/** A request of a member at the current time. */
export const entry = (accountId: string, more: Partial<RequestEntry> = {}): RequestEntry => ({
  ...{ id: newId('req_'), at: new Date(), accountId, keyDigest: undefined, userId: 'user_1' },
  ...{ method: 'GET', path: '/v1/wallets', walletId: undefined, resourceId: undefined },
  ...{ status: 200, code: undefined, refusal: undefined, credits: 1, ms: 3 },
  ...more,
})

/** An id of a request at this time. */
export const idAt = (at: Date) => firstIdAt('req_', at.getTime()).slice(0, 14) + newId('').slice(10)

export const day = (days: number) => new Date(Date.now() + days * 86_400_000)
/** The partition of a day, as a number of days from today. */
export const nameOf = (days: number) =>
  `request_log_${day(days).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Creates the partition of a day. */
export async function createPartition(db: Db, days: number): Promise<void> {
  const [from, until] = [day(days), day(days + 1)].map((at) => at.toISOString().slice(0, 10))
  await db.raw(`create table if not exists ${nameOf(days)} partition of request_log
    for values from ('${from} 00:00Z') to ('${until} 00:00Z')`)
}
