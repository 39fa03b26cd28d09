import { idFloor } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { withTimeline, type IntentRow } from '../intents/intents.js'
import { requestOf } from '../intents/storedRequest.js'
import { toTimeline } from '../intents/timeline.js'
import { possibleActions } from '../../domain/intent/possibleActions.js'
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

/**
 * Failed intents of the last days that can be retried now, at most `MOST_COUNTED` + 1. Cancelled ones do not count.
 * Only the newest failures without a retry are looked at, because each needs its timeline.
 */
export async function countRetryable(db: Db, accountId: string): Promise<number> {
  const since = idFloor('intent_', new Date(Date.now() - FAILED_DAYS * DAY_MS))
  const newest = withTimeline(db, accountId)
    .where('i.status', 'failed')
    .whereRaw('i.id >= (select ?::text)', [since])
    .whereNull('i.cancelled_at')
    .whereRaw('not exists (select from intent r where r.retry_of = i.id)')
    .orderBy('i.id', 'desc')
    .limit(MOST_COUNTED + 1)
  const rows = await selectScoped<IntentRow>(db, accountId, newest)
  return rows.filter(canRetry).length
}

function canRetry({ timeline, ...intent }: IntentRow): boolean {
  const facts = { ...intent, request: requestOf(intent), ...toTimeline(timeline) }
  return possibleActions(facts).includes('retry')
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
