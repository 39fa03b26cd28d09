/** Keeping a request costs half: what many of a batch have alike is sent once, and two indexes come later. */
export const requestBatches = `
drop index request_log_wallet, request_log_resource;
-- Those of a day that has been over for p_minutes are indexed at once: sorted, that costs a fifth. Of today's, hardly ever asked for,
-- the account's are looked through. Whoever writes to such a day must not queue up behind the lock for long.
create function index_request_log(p_minutes int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  v_over text := 'request_log_' || to_char(now() at time zone 'UTC' - p_minutes * interval '1 minute', 'YYYYMMDD');
  v_name text;
  v_indexed int := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass and c.relname ~ '^request_log_\\d{8}$' and c.relname < v_over
      and to_regclass(c.relname || '_resource') is null
    order by 1
  loop
    execute format('create index on %I (account_id, wallet_id, id) where wallet_id is not null', v_name);
    execute format('create index %I on %I (account_id, resource_id, id) where resource_id is not null',
      v_name || '_resource', v_name);
    v_indexed := v_indexed + 1;
  end loop;
  return v_indexed;
end $$;
revoke execute on function index_request_log from public;
grant execute on function index_request_log to steward_worker;

drop function record_requests;
-- A batch of requests with its sums, all or nothing: one that is there already breaks the primary key. Each is
-- one of the calls that the first five arrays tell: who called what, by p_calls, counted from 1.
-- Security definer: a batch is of many accounts, and no role may write, change or delete a row by itself.
-- Columns and not rows: reading them costs a fifth of reading as much JSON.
create function record_requests(p_accounts text[], p_keys text[], p_users text[], p_methods text[], p_paths text[],
  p_calls int[], p_ids text[], p_times bigint[], p_wallets text[], p_resources text[], p_statuses smallint[],
  p_codes text[], p_credits int[], p_ms int[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A crash may lose the last moment's rows, with their sums. No answer waits for them.
  perform set_config('synchronous_commit', 'off', true);
  with call as materialized (
    select c.place, c.account, coalesce(k.id, c.member, '') as caller, c.method, c.path
    from unnest(p_accounts, p_keys, p_users, p_methods, p_paths) with ordinality
      as c (account, key, member, method, path, place)
    left join api_key k on k.key_hash = decode(c.key, 'base64')
  ), request as materialized (
    select *, to_timestamp(time / 1000.0) as at
    from unnest(p_calls, p_ids, p_times, p_wallets, p_resources, p_statuses, p_codes, p_credits, p_ms)
      as r (place, id, time, wallet, resource, status, code, credits, ms)
  ), kept as (
    insert into request_log
    select c.account, r.id, r.at, c.caller, c.method, c.path, r.wallet, r.resource, r.status, r.code, r.credits, r.ms
    from request r join call c using (place)
  ), counted as (
    select place, (at at time zone 'UTC')::date as day, count(*) as requests,
      count(*) filter (where status >= 400) as errors, sum(credits) as credits
    from request group by 1, 2
  )
  insert into request_day as d
  select c.account, s.day, c.caller, c.method || ' ' || c.path, sum(s.requests), sum(s.errors), sum(s.credits)
  from counted s join call c using (place) group by 1, 2, 3, 4
  -- In one order everywhere, so that two processes do not wait for each other.
  order by 1, 2, 3, 4
  on conflict (account_id, day, caller_id, endpoint) do update set
    requests = d.requests + excluded.requests, errors = d.errors + excluded.errors,
    credits = d.credits + excluded.credits;
end $$;
revoke execute on function record_requests from public;
grant execute on function record_requests to steward_api;
`
