import { timesOf } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { CLOCKS_APART_MS } from '../../runtime/durations.js'
import type { Db } from '../client/connect.js'

export type Found = { kind: 'intent' | 'wallet' | 'request' | 'key'; id: string }

/** The most results: a transaction hash can match all operations of a bundle (20). */
const MOST = 20

/** How ids of one table are found. `select`: SQL that returns `kind` and `id`, by account and text. */
type IdLookup = { fits: RegExp; select: string }

const own = (kind: Found['kind'], table: string, column: string): string =>
  `select '${kind}' as kind, id from ${table} where account_id = :account and ${column} = :text`

const places: IdLookup[] = [
  { fits: /^intent_/, select: own('intent', 'intent', 'id') },
  { fits: /^svc_wallet_/, select: own('wallet', 'wallet', 'id') },
  {
    fits: /^req_[0-9a-z]{26}$/,
    // The id determines the partitions to search.
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
  // User ids are chosen by callers and have any format.
  { fits: /./s, select: own('wallet', 'wallet', 'user_id') },
]

/**
 * Finds rows of an account by an id of any kind: intent, wallet, request, key, funding, user, or transaction hash.
 *
 * @param text - Addresses match only with their checksum, as stored.
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

/** The time range (Unix ms) in which a request with this id can have been received. */
function timesNear(id: string): { from: number; to: number } {
  const [from, to] = timesOf('req_', id)
  return { from: from - CLOCKS_APART_MS, to: to + CLOCKS_APART_MS }
}
