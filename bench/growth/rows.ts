/**
 * An id with the given time in ms, in the service's format. Inline SQL, because a function costs eight times as much.
 */
const timeOf = (ms: string) =>
  Array.from(
    { length: 10 },
    (_, k) => `substr('${LETTERS}', (${ms} >> ${45 - 5 * k} & 31)::int + 1, 1)`,
  ).join(' || ')
/** One intent in so many deviates: sixty in total. */
const some = `(select max(i) / 60 from seed)`
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const msOf = (at: string) => `floor(extract(epoch from ${at}) * 1000)::bigint`
/** An id with a precomputed time. */
const idOf = (prefix: string, { made, n }: { made: string; n: string }) =>
  `'${prefix}' || ${made} || lpad(to_hex(${n}), 16, '0')`

const madeAt = (at: string) =>
  `select ${timeOf('ms')} as made from (select ${msOf(at)} as ms offset 0) t`
/** A time before the first intent, when only wallets existed. */
const longAgo = `(${madeAt(`now() - interval '91 days'`)}) long_ago`

/**
 * SQL that fills tables as production would. `seed` has one row per intent: `i` counts from 1, `at` is the creation
 * time, and `made` is the same time inside an id. The last hundred are from today.
 */
export const owners = ({ wallets, users }: { wallets: number; users: number }) => `
insert into account (id, name, plan, rpm, max_wallets, monthly_credits, period, granted)
select 'acct_' || n, 'bench', 'pro', 1000000000, 100000000, 1000000000, current_period(), 1000000000
from generate_series(0, 19) n;
insert into app_user (id, email, name, password_hash)
select 'user_' || n, n || '@bench.test', 'bench', '-' from generate_series(0, ${users - 1}) n;
insert into membership (account_id, user_id, role)
select 'acct_0', 'user_' || n, 'owner' from generate_series(0, ${users - 1}) n;
insert into chain (id, name, indexed_block, indexed_hash, finalized_block) values
  (421614, 'arbitrum-sepolia', 1000000000, '0xbooked', 999999980),
  (84532, 'base-sepolia', 1000000000, '0xbooked', 999999980),
  (11155111, 'ethereum-sepolia', 1000000000, '0xbooked', 999999980);
insert into block_header (chain_id, number, hash)
select 421614, n, case n when 1000000000 then '0xbooked' else '0x' || n end
from generate_series(999999980, 1000000000) n;
insert into treasury (address, kek_id, sealed) select '0xtreasury', id, '\\x00' from kek;
insert into sender (chain_id, sender, next_nonce, kek_id, sealed_key, purpose)
select 421614, sender, 100000000, kek.id, '\\x00', purpose
from kek, (values ('0xlane0', 'operations'), ('0xlane1', 'operations'), ('0xtreasury', 'treasury')) s (sender, purpose);
insert into webhook_key (id, public_key) values ('whk_0', '\\x00');
insert into webhook (id, account_id, url) values ('webhook_0', 'acct_0', 'https://bench.test/hook');

create temp table tokenBalance as
select j, ${idOf('svc_wallet_', { made: 'made', n: 'j' })} as id,
  case when j % 2 = 0 then 'acct_0' else 'acct_' || 1 + (j / 2) % 19 end as account_id
from generate_series(0, ${wallets - 1}) j, ${longAgo};
insert into wallet (id, account_id, user_id, address, metadata, created_at)
select id, account_id, 'user-' || j, '0x' || lpad(to_hex(j), 40, '0'), '{}', now() - interval '91 days' from tokenBalance;
create unique index on tokenBalance (j);
update account a set wallets = (select count(*) from tokenBalance p where p.account_id = a.id);
`

/** A wallet of the calling account has a thousandth of all intents. */
export const seed = ({ wallets, intents }: { wallets: number; intents: number }) => `
create temp table seed as
select i, s.at, s.made, ${idOf('intent_', { made: 's.made', n: 'i' })} as id, p.id as wallet_id, p.account_id,
  ${idOf('req_', { made: 's.made', n: 'i' })} as request_id,
  case when i % 10 = 3 then 'withdraw' when i % 10 = 7 then 'bridged' else 'lend' end as way,
  i % 10 = 9 as failed
from (select i, at, ${timeOf('ms')} as made from (select i, at, ${msOf('at')} as ms from (select i, case
        when i <= ${intents} then now() - interval '90 days' + interval '88 days' * i / ${intents}
        else now() - interval '20 hours' + interval '20 hours' * (i - ${intents}) / 101 end as at
      from generate_series(1, ${intents} + 100) i) t offset 0) u offset 0) s
join tokenBalance p on p.j = case when i % 1000 = 0 then 0 else (hashint8(i)::bigint & 2147483647) % ${wallets} end;
analyze seed;
`

const deposit = `{"type":"deposit","sequence":2,"chain":"arbitrum-sepolia","protocol":"aave-v3","market":"0x01","asset":"USDC","amount":"1"}`
const bridge = `{"type":"bridge","sequence":1,"fromChain":"base-sepolia","toChain":"arbitrum-sepolia","asset":"USDC","amount":"1"}`
const plan = (steps: string) =>
  `{"strategy":"bench","targetChain":"arbitrum-sepolia","targetProtocol":"aave-v3","expectedApy":3.51,"steps":[${steps}],"estimatedGasUsd":0.76,"estimatedTime":"1-5 seconds","reasoning":"What it is like on the chain where the money is."}`

/** Finished intents and their reservations. */
export const INTENTS = `
insert into intent (id, account_id, wallet_id, action, asset, units, chain, status, plan, error, request_id,
  created_at, dispatched_at, completed_at, updated_at, ended_at)
select id, account_id, wallet_id, case way when 'withdraw' then 'withdraw' else 'lend' end, 'USDC', 1000000,
  case way when 'withdraw' then 'arbitrum-sepolia' end,
  case when failed then 'failed' else 'completed' end,
  (case way when 'withdraw' then '${plan(deposit.replace('"deposit"', '"withdraw"'))}'
    when 'bridged' then '${plan(`${bridge},${deposit}`)}' else '${plan(deposit)}' end)::json,
  case when failed then '{"code":"DEPOSIT_FAILED","message":"The deposit failed on chain.","step":2,"funds":[]}'::json end,
  request_id, at, at, case when not failed then at + interval '9 seconds' end, at + interval '9 seconds',
  at + interval '9 seconds'
from seed order by i;
insert into reservation (intent_id, sequence, wallet_id, chain_id, token, units, from_block, spent_block, released_at, market)
select id, 2, wallet_id, 421614, '0xusdc', 1000000, 0, case when not failed then i end,
  case when failed then at end, '0x01'
from seed order by i;
`

/** Their rows: operations, transactions, signed bundles, events, ledger, stored responses. */
export const FACTS = `
insert into chain_tx (chain_id, sender, nonce, state, mined_send, block_number, block_hash, created_at, gas_limit, opened_at)
select 421614, '0xlane' || i % 2, i, 'final', 1, i, '0x' || i, at, 1000000, at from seed where i % 5 < 2 order by i;
insert into chain_tx_send (tx_id, n, hash, raw, max_fee, created_at, sent_at, sent_block)
select id, 1, '0x' || md5(id::text), case when created_at < now() - interval '30 days' then '' else repeat('f00d', 400) end,
  100000000, created_at, created_at, nonce from chain_tx;

create temp table step as
select ${idOf('op_', { made: 's.made', n: 'i * 4 + k.n' })} as op_id, s.*, k.kind, k.sequence, k.chain_id,
  t.id as tx_id
from seed s
join (values ('lend', 0, 'deposit', 2, 421614), ('withdraw', 0, 'withdraw', 2, 421614),
  ('bridged', 0, 'bridge', 1, 84532), ('bridged', 1, 'mint', 1, 421614), ('bridged', 2, 'deposit', 2, 421614))
  k (of_way, n, kind, sequence, chain_id) on k.of_way = s.way
left join chain_tx t on t.chain_id = 421614 and t.sender = '0xlane' || (i - i % 5) % 2 and t.nonce = i - i % 5;
insert into operation (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, input_units, min_block, state,
  tx_id, success, tx_hash, block_number, block_hash, log_index, gas_used, gas_cost_usd, units, created_at, resource,
  signed_at, mined_at, ended_at, changed_at, block_time, priority)
select op_id, id, sequence, kind, account_id, wallet_id, chain_id, op_id,
  1000000, 0, 'final', tx_id, not failed, '0x' || lpad(to_hex(i), 64, '0'), i, '0x' || i, 0, 200000, 0.02,
  1000000, at, case when kind in ('deposit', 'withdraw') then kind || ':0x01' end, at, at, at, at, at, 3
from step order by i, op_id;
insert into account_lent (account_id, chain_id, resource, units)
select account_id, chain_id, resource, sum(units) from operation
where kind in ('deposit', 'withdraw') and success and state = 'final' group by 1, 2, 3;
insert into signature (operation_id, payload, created_at)
select op_id, json_build_object('callData', repeat('beef', 150)), at from step;
insert into burn (operation_id, source_domain, destination_block, sent, burned_at, event_nonce, message, attestation, minted)
select op_id, 6, 0, repeat('ab', 200), at, op_id, repeat('ab', 200), repeat('cd', 130), true from step where kind = 'bridge';

-- A few are late, as many however many there are: what is rare fills a page in each database.
insert into intent_event (intent_id, account_id, wallet_id, type, data, at, xact)
select id, account_id, wallet_id, case when k.n = 2 and i % ${some} = 7 then 'delayed' else k.type end, k.data, at + k.n * interval '2 seconds',
  (3 + i * 400 / (select max(i) from seed))::text::xid8
from seed cross join (select n, type, data::json from (values
  (0, 'created', '{"status":"planning","action":"lend","asset":"USDC","units":"1000000"}'),
  (1, 'planned', '{"status":"planning","steps":1}'), (2, 'executing', '{"status":"executing"}'),
  (3, 'step_started', '{"step":2,"kind":"deposit","chain":"arbitrum-sepolia"}'),
  (4, 'step_completed', '{"step":2,"kind":"deposit","chain":"arbitrum-sepolia"}'),
  (5, 'completed', '{"status":"completed"}')) e (n, type, data)) k
order by i, k.n;
insert into ledger (account_id, request_id, reason, delta, from_granted, period, created_at)
select account_id, request_id || k.n, k.reason, -k.cost, k.cost, 202601, at
from seed cross join (values (0, 5, 'charge:POST /intents'), (1, 1, 'charge:GET /intents/:intentId'),
  (2, 1, 'charge:GET /balances/:walletId')) k (n, cost, reason)
order by i, k.n;
insert into idempotency_key (account_id, endpoint, key, fingerprint, status, body, created_at)
select account_id, '/v1/intents', 'order-' || i, decode(repeat('00', 32), 'hex'), 201, repeat('x', 600), at from seed;
insert into funding (id, account_id, wallet_id, chain_id, units, created_at, dispatched_at, completed_at)
select ${idOf('fund_', { made: 'made', n: 'j' })}, account_id, id, 421614, 1000000,
  now() - interval '91 days', now() - interval '91 days', now() - interval '91 days' from tokenBalance, ${longAgo};
insert into operation (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, input_units, min_block, state,
  success, tx_hash, block_number, block_hash, log_index, units, created_at, priority)
select 'op_' || id, id, 1, 'fund', account_id, wallet_id, 421614, 'op_' || id, 1000000, 0, 'final', true,
  '0x' || md5(id) || md5('x' || id), 1, '0x1', 0, 1000000, created_at, 3
from funding;
insert into webhook_delivery (webhook_id, account_id, event_id, type, status, next_attempt_at, created_at, dispatched_at)
select 'webhook_0', account_id, id, type, case when row_number() over (order by id) % greatest(count(*) over () / 30, 1) = 0 then 'failed' else 'delivered' end, null, at, at
from intent_event where account_id = 'acct_0' and type = 'completed' and at > now() - interval '29 days' order by id;
`

/** Transactions of the treasury: an occasional refill. */
export const SENDERS = `
insert into chain_tx (chain_id, sender, nonce, state, mined_send, block_number, block_hash, created_at, gas_limit, value_wei)
select 421614, '0xtreasury', i, 'final', 1, i, '0x' || i, at, 21000, 1000000000000000 from seed where i % 20 = 0;
`

/** Open intents, the same number for each size. Blocks are above the finalized one. */
export const LIVE = `
create temp table live as
select n, ${idOf('intent_', { made: 'made', n: 'n' })} as id, p.id as wallet_id, p.account_id,
  (array['queued', 'signed', 'mined', 'confirmed'])[1 + n % 4] as state,
  case when n % 4 > 0 then -n end as tx_id
from (${madeAt(`now() - interval '10 minutes'`)}) lately cross join generate_series(1, 160) n join tokenBalance p on p.j = n % (select count(*) from tokenBalance);
insert into intent (id, account_id, wallet_id, action, asset, units, status, plan, request_id, created_at, dispatched_at)
select id, account_id, wallet_id, 'lend', 'USDC', 1000000, 'executing', '${plan(deposit)}', 'req_live' || n,
  now() - interval '10 minutes', now() - interval '10 minutes' from live;
insert into reservation (intent_id, sequence, wallet_id, chain_id, token, units, from_block, spent_block, market)
select id, 2, wallet_id, 421614, '0xusdc', 1000000, 0,
  case when state in ('mined', 'confirmed') then 999999990 end, '0x01' from live;
insert into chain_tx (id, chain_id, sender, nonce, state, mined_send, block_number, block_hash, gas_limit)
overriding system value
select tx_id, 421614, '0xlane' || n % 2, 200000000 + n, case state when 'signed' then 'open' else 'mined' end,
  case when state <> 'signed' then 1 end, case when state <> 'signed' then 999999990 end,
  case when state <> 'signed' then '0x999999990' end, 1000000 from live where tx_id is not null and n % 32 < 8;
insert into chain_tx_send (tx_id, n, hash, raw, max_fee, sent_at, sent_block)
select tx_id, 1, '0xlive' || n, repeat('f00d', 400), 100000000, now(), 999999990
from live where tx_id is not null and n % 32 < 8;
insert into operation (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, input_units, min_block, state,
  tx_id, success, tx_hash, block_number, block_hash, log_index, gas_used, gas_cost_usd, units, resource, priority)
select 'op_live_' || n, id, 2, 'deposit', account_id, wallet_id, 421614, 'op_live_' || n, 1000000, 0,
  state, case when n % 32 < 8 then tx_id end, case when state in ('mined', 'confirmed') then true end,
  case when state in ('mined', 'confirmed') then '0xlive' || n end,
  case when state in ('mined', 'confirmed') then 999999990 end,
  case when state in ('mined', 'confirmed') then '0x999999990' end, 0, 200000, 0.02, 1000000, 'deposit:0x01', 3
from live;
insert into signature (operation_id, payload) select 'op_live_' || n, '{}' from live where state <> 'queued';
`

/**
 * Requests of the last thirty days, three per intent, and their sums. Each past day already has its partition.
 */
export const REQUESTS = `
do $$ begin
  for day in 0..30 loop
    execute format('create table if not exists %I partition of request_log for values from (%L) to (%L)',
      'request_log_' || to_char((now() at time zone 'UTC')::date - 1 - day, 'YYYYMMDD'),
      ((now() at time zone 'UTC')::date - 1 - day)::timestamp at time zone 'UTC',
      ((now() at time zone 'UTC')::date - day)::timestamp at time zone 'UTC');
  end loop;
end $$;
create temp table asked as
select at, ${timeOf('ms')} as made, i, account_id, id, wallet_id
from (select *, ${msOf('at')} as ms from (select least(greatest(now() - (now() - at) / 3.1, now() - interval '30 days'), now() - interval '2 days') as at,
    i, account_id, id, wallet_id
  from seed where i <= (select max(i) from seed) - 100 offset 0) t offset 0) s;
insert into request_log (account_id, id, at, caller_id, method, path, wallet_id, resource_id, status, code, credits, ms)
select account_id, ${idOf('req_', { made: 'made', n: 'i * 3 + k' })}, at, 'key_old', 'GET', '/v1/intents/:intentId', wallet_id, id,
  case when i % ${some} = 1 then 409 else 200 end, case when i % ${some} = 1 then 'INVALID_REQUEST' end, 1, 3
from asked cross join generate_series(0, 2) k order by at, i, k;
insert into request_day (account_id, day, caller_id, endpoint, requests, errors, credits)
select account_id, (at at time zone 'UTC')::date, caller_id, method || ' ' || path, count(*), 0, sum(credits)
from request_log group by 1, 2, 3, 4;
`
