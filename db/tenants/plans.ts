import { limitsOf, type Tier } from '../../domain/tiers.js'
import { newId } from '../connection/ids.js'
import { noAccount } from './accounts.js'
import type { Db } from '../connection/connect.js'

/**
 * Sets a plan with its limits. More credits a month are there at once, fewer from the next month on.
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

/** Grants what this month has not brought yet of so many credits; 0 in an account that has not begun this month. */
async function grantMore(trx: Db, id: string, creditsPerMonth: number): Promise<number> {
  const { rows } = await trx.raw<{ rows: { delta: string }[] }>(
    `insert into ledger (account_id, request_id, reason, delta)
     select id, :request, 'grant:' || period, :credits - brought.sum
     from account cross join lateral (
       select coalesce(sum(delta), 0) as sum from ledger
       where account_id = account.id and reason = 'grant:' || account.period) brought
     where id = :id and period = current_period() and brought.sum < :credits
     returning delta::text`,
    { id, request: newId('op_'), credits: creditsPerMonth },
  )
  return Number(rows[0]?.delta ?? 0)
}
