-- The log of requests.

-- Requests by key, and writes by session. A partition a day; the default one takes what has none.
create table request_log (
  account_id text collate "C",
  id text collate "C",
  -- When it came, by the clock of the process that answered it.
  at timestamptz,
  -- Id of the key, or of the user.
  caller_id text not null,
  method text not null,
  -- The pattern. What callers put into a path, a query or a body is not kept.
  path text not null,
  -- The wallet that it was about. Null: none, or several.
  wallet_id text collate "C",
  -- The intent, funding or key that it was about. Null: none, or several.
  resource_id text collate "C",
  -- As it was sent. 499: the caller went away before.
  status smallint not null check (status >= 100 and status <= 599),
  code text,
  credits int not null check (credits >= 0),
  ms int not null check (ms >= 0),
  primary key (account_id, id, at)
) partition by range (at);
create table request_log_default partition of request_log default;
create index request_log_error on request_log (account_id, id) where status >= 400;
alter table request_log enable row level security;
create policy own_account on request_log for select to steward_api
  using (account_id = current_account((select true)));
grant select on request_log to steward_api;

-- Sums of request_log, added up in the statement that fills it. Kept for more than a year.
create table request_day (
  account_id text collate "C",
  -- In UTC.
  day date,
  caller_id text collate "C",
  endpoint text collate "C",
  requests bigint not null,
  -- With a status from 400 on.
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
grant select on request_day to steward_api;

-- Makes the partitions of today and the days after it. Rows of such a day that came too early for it move there.
-- Whoever reads or writes must not queue up behind the lock: what does not get it at once is done the next time.
create function extend_request_log(p_days int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  v_day date;
  v_name text;
  v_from timestamptz;
  v_until timestamptz;
  v_made int := 0;
begin
  lock table request_log in share update exclusive mode;
  for v_day in select (now() at time zone 'UTC')::date + n from generate_series(0, p_days) n loop
    v_name := 'request_log_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass(v_name) is not null;
    v_from := v_day::timestamp at time zone 'UTC';
    v_until := (v_day + 1)::timestamp at time zone 'UTC';
    execute format('create table %I (like request_log including all)', v_name);
    lock table request_log_default in access exclusive mode;
    execute format('with moved as (delete from request_log_default where at >= %L and at < %L returning *)
      insert into %I select * from moved', v_from, v_until, v_name);
    execute format('alter table request_log attach partition %I for values from (%L) to (%L)',
      v_name, v_from, v_until);
    v_made := v_made + 1;
  end loop;
  return v_made;
end $$;

-- Drops the partitions of days that ended more than p_days days ago.
create function shorten_request_log(p_days int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  v_oldest date := (now() at time zone 'UTC')::date - p_days;
  v_name text;
  v_dropped int := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass and c.relname ~ '^request_log_\d{8}$'
      and c.relname < 'request_log_' || to_char(v_oldest, 'YYYYMMDD')
    order by 1
  loop
    execute format('drop table %I', v_name);
    v_dropped := v_dropped + 1;
  end loop;
  delete from request_log_default where at < v_oldest::timestamp at time zone 'UTC';
  return v_dropped;
end $$;

-- Requests of one path or one caller: as those of a wallet, where sorting makes the index cheap.
create function index_request_log(p_minutes int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  v_over text := 'request_log_' || to_char(now() at time zone 'UTC' - p_minutes * interval '1 minute', 'YYYYMMDD');
  v_name text;
  v_indexed int := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass and c.relname ~ '^request_log_\d{8}$' and c.relname < v_over
      and to_regclass(c.relname || '_caller') is null
    order by 1
  loop
    if to_regclass(v_name || '_resource') is null then
      execute format('create index on %I (account_id, wallet_id, id) where wallet_id is not null', v_name);
      execute format('create index %I on %I (account_id, resource_id, id) where resource_id is not null',
        v_name || '_resource', v_name);
    end if;
    execute format('create index on %I (account_id, path, id)', v_name);
    execute format('create index %I on %I (account_id, caller_id, id)', v_name || '_caller', v_name);
    v_indexed := v_indexed + 1;
  end loop;
  return v_indexed;
end $$;

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

-- Deletes at most so many sums of days more than p_days days ago, the oldest first, and says how many they were.
create function prune_request_days(p_days int, p_limit int) returns int
language sql security definer set search_path = public, pg_temp as $$
  with pruned as (
    delete from request_day where (account_id, day, caller_id, endpoint) in (
      select d.account_id, d.day, d.caller_id, d.endpoint from request_day d
      -- Stable within the statement, as an index asks of what it is searched by.
      where d.day < (statement_timestamp() at time zone 'UTC')::date - p_days
      order by d.day limit p_limit for update skip locked)
    returning 1)
  select count(*)::int from pruned
$$;

revoke execute on function extend_request_log, shorten_request_log, index_request_log, record_requests,
  prune_request_days from public;
grant execute on function extend_request_log, shorten_request_log, index_request_log, prune_request_days
  to steward_worker;
grant execute on function record_requests to steward_api;

select extend_request_log(3);
