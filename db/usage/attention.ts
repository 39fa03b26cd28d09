import { idFloor } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { DAY_MS } from '../../runtime/durations.js'
import type { Db } from '../client/connect.js'
import type { PauseScope } from '../../domain/intent/waiting.js'
import type { EndpointDisabledReason } from '../../domain/events/webhooks.js'

/** Older failures are no news. */
const FAILED_DAYS = 7
/** Beyond this count the exact number does not matter. */
export const MOST_COUNTED = 100
/** A key that ends within this time should be rolled now. */
const EXPIRY_DAYS = 7

/** Only the newest failed intents of the days are looked at. */
const NEWEST = 2_000

/** Failed intents of the last days that `POST /intents/:id/retry` would accept, at most `MOST_COUNTED` + 1. */
export async function countRetryable(db: Db, accountId: string): Promise<number> {
  const own = (condition: string) =>
    `exists (select from operation o where o.intent_id = i.id and ${condition})`
  const minted = `exists (select from operation m where m.intent_id = o.intent_id and m.kind = 'mint'
    and m.sequence = o.sequence and m.success and m.state in ('confirmed', 'final'))`
  const newest = db('intent')
    .where({ account_id: accountId, status: 'failed' })
    .whereRaw('id >= (select ?::text)', [
      idFloor('intent_', new Date(Date.now() - FAILED_DAYS * DAY_MS)),
    ])
    .whereNull('cancelled_at')
    .orderBy('id', 'desc')
    .limit(NEWEST)
    .select('id', 'account_id', 'wallet_id')
  const failed = db
    .from(newest.as('i'))
    .whereRaw('not exists (select from intent r where r.retry_of = i.id)')
    .whereRaw(
      `not exists (select from pause s where s.until is null
      and (s.scope, s.subject) in (('wallet', i.wallet_id), ('account', i.account_id)))`,
    )
    .whereRaw(`not ${own(`(o.state in ('signed', 'mined') or settles_at(o) > clock_timestamp())`)}`)
    .whereRaw(`not ${own(`o.kind = 'bridge' and o.success and not ${minted}`)}`)
    .select('i.id')
    .limit(MOST_COUNTED + 1)
  const query = db.from(failed.as('failed')).select(db.raw('count(*)::int as count'))
  const [row] = await selectScoped<{ count: number }>(db, accountId, query)
  return row?.count ?? 0
}

/** A webhook that the service has disabled, or with failed attempts: its deliveries of the last day without success. */
export type FailingWebhook = {
  id: string
  url: string
  disabledReason: EndpointDisabledReason | null
  failed: number
  /** With a failed attempt before. */
  pending: number
}

export async function readFailingWebhooks(db: Db, accountId: string): Promise<FailingWebhook[]> {
  const undelivered = `(select count(*) filter (where d.status = 'failed')::int as failed,
      count(*) filter (where d.status = 'pending' and jsonb_array_length(d.attempts) > 0)::int as pending
    from (select status, attempts, created_at from webhook_delivery
      where webhook_id = w.id and status <> 'delivered' order by id desc limit ${MOST_COUNTED}) as d
    where d.created_at > clock_timestamp() - interval '1 day') as undelivered`
  const query = db('webhook as w')
    .joinRaw(`cross join lateral ${undelivered}`)
    .where({ account_id: accountId })
    .whereNull('deleted_at')
    .whereRaw(`disabled_reason is distinct from 'by_account'`)
    .whereRaw('(disabled_reason is not null or failed + pending > 0)')
    .orderBy('id')
    .select('id', 'url', 'disabled_reason as disabledReason', 'failed', 'pending')
  return selectScoped<FailingWebhook>(db, accountId, query)
}

export type ExpiringKey = { id: string; name: string; expiresAt: Date }

/** Valid keys that end within days, the next one first. */
export async function readExpiringKeys(db: Db, accountId: string): Promise<ExpiringKey[]> {
  const query = db('api_key')
    .where({ account_id: accountId })
    .whereNull('revoked_at')
    .whereRaw('expires_at > clock_timestamp()')
    .whereRaw(`expires_at < clock_timestamp() + ${EXPIRY_DAYS} * interval '1 day'`)
    .orderBy('expires_at')
    .limit(MOST_COUNTED)
    .select('id', 'name', 'expires_at as expiresAt')
  return selectScoped<ExpiringKey>(db, accountId, query)
}

/** An open pause or freeze that affects the account. `subject`: number of a chain, id of a wallet or the account. */
export type OwnPause = { scope: PauseScope; subject: string; since: Date }

/** The open pauses of chains and the deployment, and the freezes of the account and its wallets, the oldest first. */
export async function readOwnPauses(db: Db, accountId: string): Promise<OwnPause[]> {
  const query = db('pause')
    .whereNull('until')
    .where((own) => {
      void own
        .whereIn('scope', ['chain', 'deployment'])
        .orWhere({ scope: 'account', subject: accountId })
        .orWhereRaw(
          `scope = 'wallet' and subject in (select id from wallet where account_id = ?)`,
          [accountId],
        )
    })
    .orderBy('since')
    .limit(MOST_COUNTED)
    .select('scope', 'subject', 'since')
  return selectScoped<OwnPause>(db, accountId, query)
}
