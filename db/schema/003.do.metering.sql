-- Rate windows, credits and their ledger.

-- Append-only. The sum of an account's deltas is its balance.
create table ledger (
  id bigint generated always as identity primary key,
  account_id text not null references account,
  -- Made by the service, never the caller's.
  request_id text not null,
  reason text not null,
  delta bigint not null,
  -- How much of a charge came from the monthly credits, so that a refund goes back there.
  from_granted bigint not null default 0,
  -- The month that from_granted was taken from.
  period int,
  created_at timestamptz not null default clock_timestamp(),
  -- How many charges, or refunds, it is the sum of.
  entries int not null default 1 check (entries > 0),
  -- It stands for those of a month.
  summed boolean not null default false,
  unique (request_id, reason)
);
create index ledger_account on ledger (account_id, id);
create index ledger_age on ledger (created_at) where (not summed) and (reason like 'charge:%' or reason = 'refund');
alter table ledger enable row level security;
create policy own_account on ledger to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on ledger to steward_worker, steward_signer using (true) with check (true);
grant select on ledger to steward_api;

-- The month in UTC, as YYYYMM.
create function current_period() returns int language sql volatile as
  $$ select to_char(clock_timestamp() at time zone 'UTC', 'YYYYMM')::int $$;

-- Replaces the monthly credits in the first call of a month. The account's row is locked by the caller.
create function renew_credits(a account, p_request text) returns account language plpgsql as $$
declare v_period int := current_period();
begin
  if a.period >= v_period then return a; end if;
  if a.granted > 0 then
    insert into ledger (account_id, request_id, reason, delta)
    values (a.id, p_request, 'lapse:' || a.period, -a.granted);
  end if;
  if a.monthly_credits > 0 then
    insert into ledger (account_id, request_id, reason, delta)
    values (a.id, p_request, 'grant:' || v_period, a.monthly_credits);
  end if;
  a.granted := a.monthly_credits;
  a.period := v_period;
  return a;
end $$;

-- The charge of a POST, inside the transaction that creates what it pays for, and what is left then.
create function charge_call(p_account text, p_request text, p_cost bigint, p_route text)
returns table (paid boolean, balance bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  a account;
  v_granted bigint;
begin
  select * into a from account x where x.id = p_account for no key update;
  a := renew_credits(a, p_request);
  paid := a.granted + a.purchased >= p_cost;
  if paid and p_cost > 0 then
    -- The monthly ones first.
    v_granted := least(a.granted, p_cost);
    insert into ledger (account_id, request_id, reason, delta, from_granted, period)
    values (a.id, p_request, 'charge:' || p_route, -p_cost, v_granted, a.period);
    a.granted := a.granted - v_granted;
    a.purchased := a.purchased - (p_cost - v_granted);
    a.total_used := a.total_used + p_cost;
  end if;
  update account x set period = a.period, granted = a.granted, purchased = a.purchased, total_used = a.total_used
  where x.id = a.id;
  balance := a.granted + a.purchased;
  return next;
end $$;

-- Gives a charge back, once, to the buckets it came from. Monthly credits of a past month have lapsed.
create function refund_call(p_request text)
returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  c ledger;
  a account;
  v_granted bigint;
begin
  select * into c from ledger l where l.request_id = p_request and l.reason like 'charge:%';
  if not found then return; end if;
  select * into a from account x where x.id = c.account_id for no key update;
  if exists (select from ledger l where l.request_id = p_request and l.reason = 'refund') then return; end if;
  v_granted := case when c.period = a.period then c.from_granted else 0 end;
  insert into ledger (account_id, request_id, reason, delta)
  values (a.id, p_request, 'refund', v_granted + (-c.delta - c.from_granted));
  update account x set granted = a.granted + v_granted, purchased = a.purchased + (-c.delta - c.from_granted),
    total_used = a.total_used + c.delta
  where x.id = a.id;
end $$;

-- Authenticates calls by their keys, counts them in their account's minute and charges them, in their order. A key that
-- is not live has no row. code: 200 admitted, 402, 403, 423 (suspended), 429 refused; 0 where another transaction has
-- locked the account: the call was neither counted nor charged, and the caller asks again.
-- All accounts are locked by one statement, in the order of their ids, and written by one.
create function admit_calls(p_keys bytea[], p_requests text[], p_costs bigint[], p_routes text[], p_scopes text[])
returns table (at bigint, account_id text, plan text, scopes text[], rpm int, win_used int, reset_at bigint,
  retry_after int, balance bigint, code int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  c record;
  a account;
  v_held boolean := false;
  v_now bigint;
  v_period int;
  v_granted bigint;
  -- The accounts as they are then, and the charges, written at the end in one go.
  v_changed account[];
  v_at int[];
  v_accounts text[];
  v_granted_parts bigint[];
  v_periods int[];
begin
  -- A crash may lose the last moment's counts and charges of reads, in the caller's favour, and nothing else:
  -- whoever pays for an effect waits for the disk in the transaction of that effect.
  perform set_config('synchronous_commit', 'off', true);
  for c in
    -- (select p_keys): one plan for any number of calls.
    with known as materialized (
      select u.ordinality, u.request, u.cost, u.scope, k.id, k.account_id, k.scopes, k.last_used_at
      from unnest((select p_keys), (select p_requests), (select p_costs), (select p_scopes))
        with ordinality as u (key, request, cost, scope)
      join api_key k on k.key_hash = u.key and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp())
    ), held as materialized (
      select x.id, x as account from account x where x.id = any (array(select n.account_id from known n))
      order by x.id for no key update skip locked
    )
    select n.*, h.id is not null as is_held, h.account
    from known n left join held h on h.id = n.account_id
    order by n.account_id, n.ordinality
  loop
    at := c.ordinality;
    if a.id is distinct from c.account_id then
      if v_held then v_changed := v_changed || a; end if;
      v_held := c.is_held;
      if v_held then
        a := c.account;
        -- Read after the lock. A clock that steps back must not open a window again, and one that was set far
        -- ahead for a moment must not keep this one open.
        v_now := floor(extract(epoch from clock_timestamp()));
        if v_now / 60 > a.win or v_now / 60 < a.win - 1 then
          a.win := v_now / 60;
          a.win_used := 0;
        end if;
        v_period := current_period();
      else
        a.id := c.account_id;
      end if;
    end if;
    account_id := c.account_id;
    if not v_held then
      code := 0;
      return next;
      continue;
    end if;
    code := 200;
    if c.last_used_at is null or c.last_used_at < clock_timestamp() - interval '1 minute' then
      update api_key x set last_used_at = clock_timestamp()
      where x.id = c.id and x.last_used_at is not distinct from c.last_used_at;
    end if;
    if a.win_used >= a.rpm then
      code := 429;
    else
      a.win_used := a.win_used + 1;
      -- A month in which an account is only suspended brings it no credits.
      if a.period < v_period and a.suspended_at is null then a := renew_credits(a, c.request); end if;
      if a.suspended_at is not null then code := 423;
      elsif c.scope <> all (c.scopes) then code := 403;
      elsif a.granted + a.purchased < c.cost then code := 402;
      elsif c.cost > 0 then
        v_granted := least(a.granted, c.cost);
        a.granted := a.granted - v_granted;
        a.purchased := a.purchased - (c.cost - v_granted);
        a.total_used := a.total_used + c.cost;
        v_at := v_at || c.ordinality::int;
        v_accounts := v_accounts || a.id;
        v_granted_parts := v_granted_parts || v_granted;
        v_periods := v_periods || a.period;
      end if;
    end if;
    plan := a.plan;
    scopes := c.scopes;
    rpm := a.rpm;
    win_used := a.win_used;
    reset_at := (a.win + 1) * 60;
    retry_after := greatest(1, reset_at - v_now);
    balance := a.granted + a.purchased;
    return next;
  end loop;
  if v_held then v_changed := v_changed || a; end if;
  if v_changed is not null then
    update account x set win = n.win, win_used = n.win_used, period = n.period, granted = n.granted,
      purchased = n.purchased, total_used = n.total_used
    from unnest((select v_changed)) as n where x.id = n.id;
  end if;
  if v_at is not null then
    insert into ledger (account_id, request_id, reason, delta, from_granted, period)
    select u.account, p_requests[u.at], 'charge:' || p_routes[u.at], -p_costs[u.at], u.granted, u.period
    from unnest((select v_at), (select v_accounts), (select v_granted_parts), (select v_periods))
      as u (at, account, granted, period);
  end if;
end $$;

-- 2: nothing is left, 1: less than a tenth of a month, 0: more.
create function credits_level(p_left bigint, p_month bigint) returns int language sql immutable as
  $$ select case when p_left <= 0 then 2 when p_left * 10 < p_month then 1 else 0 end $$;

-- Replaces charges and refunds of months that ended more than p_days ago by their sums, at most p_limit of them, and
-- returns how many. An account's entries still add up to its balance.
create function sum_ledger(p_days int, p_limit int) returns int
language sql security definer set search_path = public, pg_temp as $$
  with gone as (
    delete from ledger l where l.id = any (array(
      select x.id from ledger x
      where not x.summed and (x.reason like 'charge:%' or x.reason = 'refund')
        -- Whole months, in UTC.
        and x.created_at < date_trunc('month', (statement_timestamp() - p_days * interval '1 day') at time zone 'UTC')
          at time zone 'UTC'
      order by x.created_at limit p_limit for update skip locked))
    returning l.*
  ), month as (
    select max(id) as id, account_id, to_char(created_at at time zone 'UTC', 'YYYYMM') as month, reason,
      sum(delta) as delta, sum(from_granted) as from_granted, max(created_at) as created_at, count(*)::int as entries
    from gone group by account_id, 3, reason
  ), kept as (
    insert into ledger as l
      (id, account_id, request_id, reason, delta, from_granted, period, created_at, entries, summed)
    overriding system value
    select id, account_id, 'sum_' || month || '_' || account_id, reason, delta, from_granted, month::int, created_at,
      entries, true
    from month
    on conflict (request_id, reason) do update set delta = l.delta + excluded.delta,
      from_granted = l.from_granted + excluded.from_granted, entries = l.entries + excluded.entries,
      created_at = greatest(l.created_at, excluded.created_at)
    returning 1)
  select count(*)::int from gone
$$;

grant execute on function charge_call, admit_calls to steward_api;
grant execute on function refund_call to steward_api, steward_worker;
grant execute on function sum_ledger to steward_worker;
