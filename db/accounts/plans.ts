import { limitsOf, type Tier } from '../../domain/tiers.js'
import { newId } from '../client/ids.js'
import { noAccount } from './accounts.js'
import type { Db } from '../client/connect.js'

/**
 * Sets a plan with its limits. Additional monthly credits are granted immediately. Fewer credits apply from the next
 * month on.
 *
 * @throws {ServiceError} NOT_FOUND for an unknown account.
 */
export async function changePlan(db: Db, id: string, plan: Tier): Promise<void> {
  const { requestsPerMinute, maxWallets = null, creditsPerMonth } = limitsOf[plan]
  await db.transaction(async (trx) => {
    const account = await trx('account')
      .where({ id })
      .forNoKeyUpdate()
      .first<object | undefined>('id')
    if (!account) throw noAccount(id)
    const granted = await grantMore(trx, id, creditsPerMonth)
    await trx('account')
      .where({ id })
      .update({
        plan,
        rpm: requestsPerMinute,
        max_wallets: maxWallets,
        monthly_credits: creditsPerMonth,
        granted: trx.raw('granted + ?', [granted]),
      })
  })
}

/** Grants the part of the monthly credits that exceeds this month's grant. 0 when the month has no grant yet. */
async function grantMore(trx: Db, id: string, creditsPerMonth: number): Promise<number> {
  const { rows } = await trx.raw<{ rows: { delta: string }[] }>(
    `insert into ledger (account_id, request_id, reason, delta)
     select id, :request, 'grant:' || period, :credits - granted_sum.sum
     from account cross join lateral (
       select coalesce(sum(delta), 0) as sum from ledger
       where account_id = account.id and reason = 'grant:' || account.period) granted_sum
     where id = :id and period = current_period() and granted_sum.sum < :credits
     returning delta::text`,
    { id, request: newId('op_'), credits: creditsPerMonth },
  )
  return Number(rows[0]?.delta ?? 0)
}
