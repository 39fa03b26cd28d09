import { timesOf } from '../connection/ids.js'
import { selectScoped } from '../connection/scope.js'
import { CLOCKS_APART_MS } from '../../durations.js'
import type { Db } from '../connection/connect.js'

export type Found = { kind: 'intent' | 'wallet' | 'request' | 'key'; id: string }

/** A bundle carries so many operations of one account at most. */
const MOST = 20

/** One table in which an id may be, and how. `select`: SQL of `kind` and `id`, by the account and the text. */
type Place = { fits: RegExp; select: string }

const own = (kind: Found['kind'], table: string, column: string): string =>
  `select '${kind}' as kind, id from ${table} where account_id = :account and ${column} = :text`

const places: Place[] = [
  { fits: /^intent_/, select: own('intent', 'intent', 'id') },
  { fits: /^svc_wallet_/, select: own('wallet', 'wallet', 'id') },
  {
    fits: /^req_[0-9a-z]{26}$/,
    // Its id tells in which partitions it may be.
    select: `${own('request', 'request_log', 'id')}
      and at between to_timestamp(:from / 1000.0) and to_timestamp(:to / 1000.0)`,
  },
  { fits: /^key_/, select: own('key', 'api_key', 'id') },
  {
    fits: /^fund_/,
    select: `select 'wallet' as kind, wallet_id as id from funding where account_id = :account and id = :text`,
  },
  {
    fits: /^0x[0-9a-f]{64}$/i,
    select: `select distinct case kind when 'fund' then 'wallet' else 'intent' end as kind,
        case kind when 'fund' then wallet_id else intent_id end as id
      from operation where account_id = :account and tx_hash = lower(:text)`,
  },
  { fits: /^0x[0-9a-f]{40}$/i, select: own('wallet', 'wallet', 'address') },
  // Users are named by callers, as they like.
  { fits: /./s, select: own('wallet', 'wallet', 'user_id') },
]

/**
 * What an account has under an id, of whatever kind: an intent, a wallet, a request, a key, a funding, a user, the hash of a
 * transaction.
 *
 * @param text - An address is found as it is stored: with its checksum.
 */
export async function findAnything(db: Db, accountId: string, text: string): Promise<Found[]> {
  const selects = places.filter(({ fits }) => fits.test(text)).map(({ select }) => `(${select})`)
  const query = db
    .select('kind', 'id')
    .from(
      db.raw(`(${selects.join(' union ')}) as found`, {
        ...{ account: accountId, text },
        ...timesNear(text),
      }),
    )
    .limit(MOST)
  return selectScoped<Found>(db, accountId, query)
}

/** When a request can have come whose id this is, Unix ms. */
function timesNear(id: string): { from: number; to: number } {
  const [from, to] = timesOf('req_', id)
  return { from: from - CLOCKS_APART_MS, to: to + CLOCKS_APART_MS }
}
