import { issueApiKey } from '../../db/accounts/accounts.js'
import type { Db } from '../../db/client/connect.js'

const DAYS = 30
const HOURS = DAYS * 24

/**
 * Inserts what a month of operation leaves and a devnet of minutes cannot have: hourly rates around the present ones, and
 * daily sums of requests, whose failed calls are free. The sums belong to a key named "Sample traffic", which no program has.
 */
export async function insertTimeSeries(db: Db, accountId: string): Promise<void> {
  await db.raw(
    `insert into yield_snapshot (chain, protocol, asset, market, apy_percent, taken_at)
     select chain, protocol, asset, market, round((apy_percent * (1 + 0.09 * sin(h / (31.0 + 5 * n)) +
       0.04 * sin(h / (9.7 + n)) + 0.015 * sin(h / 2.3 + n)))::numeric, 4),
       date_trunc('hour', now()) - h * interval '1 hour'
     from (select distinct on (chain, protocol, asset) *, row_number() over (order by chain, protocol) as n
           from yield_snapshot order by chain, protocol, asset, id desc) latest
       cross join generate_series(1, ?::int) h
     on conflict do nothing`,
    [HOURS],
  )
  const { stored } = await issueApiKey(db, accountId, { name: 'Sample traffic', scopes: ['read'] })
  const endpoints = {
    'GET /v1/balances/:walletId': 160,
    'GET /v1/positions/:walletId': 70,
    'GET /v1/yields': 90,
  }
  for (const [endpoint, most] of Object.entries(endpoints)) {
    await db.raw(
      `insert into request_day (account_id, caller_id, endpoint, day, requests, errors, credits)
       select ?, ?, ?, (now() at time zone 'UTC')::date - d, requests, requests / 40, requests - requests / 40
       from generate_series(1, ?::int) d cross join lateral
         (select round(?::int * (0.65 + 0.25 * sin(d * 1.7) + 0.1 * sin(d / 3.0)))::int as requests) x`,
      [accountId, stored.id, endpoint, DAYS - 1, most],
    )
  }
}
