-- The request log.

-- Requests by API key, and writes by session. One partition per day. The default partition holds rows without one.
create table request_log (
  account_id text collate "C",
  id text collate "C",
  -- Arrival time, by the clock of the process that responded.
  at timestamptz,
  -- Id of the API key or the user.
  caller_id text not null,
  method text not null,
  -- The route pattern. Values in paths, queries and bodies are not kept, apart from refused fields.
  path text not null,
  -- The wallet of the request. Null: none, or several.
  wallet_id text collate "C",
  -- The intent, funding or key of the request. Null: none, or several.
  resource_id text collate "C",
  -- The status that was sent. 499: the client disconnected first.
  status smallint not null check (status >= 100 and status <= 599),
  code text,
  credits int not null check (credits >= 0),
  ms int not null check (ms >= 0),
  -- Of an error: its message, the refused fields and the Idempotency-Key, redacted. Null: no error, or too large.
  refusal json check (octet_length(refusal::text) <= 8192),
  primary key (account_id, id, at)
) partition by range (at);
create table request_log_default partition of request_log default;
create index request_log_error on request_log (account_id, id) where status >= 400;
create index request_log_wallet on request_log (account_id, wallet_id, id) where wallet_id is not null;
create index request_log_resource on request_log (account_id, resource_id, id) where resource_id is not null;
create index request_log_path on request_log (account_id, path, id);
create index request_log_caller on request_log (account_id, caller_id, id);
alter table request_log enable row level security;
create policy own_account on request_log for select to steward_api
  using (account_id = current_account((select true)));
grant select on request_log to steward_api;

-- Daily sums of request_log, added in the statement that fills it. Kept for more than a year.
create table request_day (
  account_id text collate "C",
  -- In UTC.
  day date,
  caller_id text collate "C",
  endpoint text collate "C",
  requests bigint not null,
  -- Requests with status 400 or higher.
  errors bigint not null,
  credits bigint not null,
  primary key (account_id, day, caller_id, endpoint)
);
create index request_day_age on request_day (day);
create index request_day_path on request_day (account_id, substr(endpoint, (strpos(endpoint, ' '::text) + 1)), day);
create index request_day_caller on request_day (account_id, caller_id, day);
alter table request_day enable row level security;
create policy own_account on request_day for select to steward_api
  using (account_id = current_account((select true)));
create policy all_accounts on request_day for select to steward_worker using (true);
create policy old on request_day for delete to steward_worker
  using (day < (statement_timestamp() at time zone 'UTC')::date - 400);
grant select on request_day to steward_api;
grant select (account_id, day, caller_id, endpoint), delete on request_day to steward_worker;

-- Inserts a batch of requests with its sums, all or nothing. A repeated request violates the primary key. The first
-- five arrays list distinct calls (caller, method, path). p_calls holds the 1-based index of each request's call.
-- Definer: a batch spans accounts, and no role can write, change or delete rows directly.
-- Columns instead of JSON rows cost a fifth of the time to parse.
create function record_requests(p_accounts text[], p_keys text[], p_users text[], p_methods text[], p_paths text[],
  p_calls int[], p_ids text[], p_times bigint[], p_wallets text[], p_resources text[], p_statuses smallint[],
  p_codes text[], p_credits int[], p_ms int[], p_refusals text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A crash may lose the last rows together with their sums. No response waits for the disk.
  perform set_config('synchronous_commit', 'off', true);
  with call as materialized (
    select c.place, c.account, coalesce(k.id, c.member, '') as caller, c.method, c.path
    from unnest(p_accounts, p_keys, p_users, p_methods, p_paths) with ordinality
      as c (account, key, member, method, path, place)
    left join api_key k on k.key_hash = decode(c.key, 'base64')
  ), request as materialized (
    select *, to_timestamp(time / 1000.0) as at
    from unnest(p_calls, p_ids, p_times, p_wallets, p_resources, p_statuses, p_codes, p_credits, p_ms,
      p_refusals) as r (place, id, time, wallet, resource, status, code, credits, ms, refusal)
  ), kept as (
    insert into request_log
    select c.account, r.id, r.at, c.caller, c.method, c.path, r.wallet, r.resource, r.status, r.code, r.credits, r.ms,
      case when octet_length(r.refusal) <= 8192 then r.refusal::json end
    from request r join call c using (place)
  ), counted as (
    select place, (at at time zone 'UTC')::date as day, count(*) as requests,
      count(*) filter (where status >= 400) as errors, sum(credits) as credits
    from request group by 1, 2
  )
  insert into request_day as d
  select c.account, s.day, c.caller, c.method || ' ' || c.path, sum(s.requests), sum(s.errors), sum(s.credits)
  from counted s join call c using (place) group by 1, 2, 3, 4
  -- A fixed order prevents deadlocks between two processes.
  order by 1, 2, 3, 4
  on conflict (account_id, day, caller_id, endpoint) do update set
    requests = d.requests + excluded.requests, errors = d.errors + excluded.errors,
    credits = d.credits + excluded.credits;
end $$;

grant execute on function record_requests to steward_api;

select create_partitions('request_log', 'day', 3);
