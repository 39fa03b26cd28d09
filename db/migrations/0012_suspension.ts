/** What an operator may do to an account: suspend it, and change its plan. */
export const suspension = `
alter table account add column suspended_at timestamptz;
comment on column account.suspended_at is 'Since when no key of the account is admitted. What runs goes on.';

-- As before, and with code 423 for a call of a suspended account.
create or replace function admit_calls(p_keys bytea[], p_requests text[], p_costs bigint[], p_routes text[],
  p_scopes text[], p_wait boolean)
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
  -- The charges, written at the end in one go.
  v_at int[];
  v_accounts text[];
  v_granted_parts bigint[];
  v_periods int[];
begin
  -- A crash may lose the last moment's counts and charges of reads, in the caller's favour, and nothing else:
  -- whoever pays for an effect waits for the disk in the transaction of that effect.
  perform set_config('synchronous_commit', 'off', true);
  for c in
    select u.ordinality, u.request, u.cost, u.scope, k.id, k.account_id, k.scopes, k.last_used_at
    from unnest(p_keys, p_requests, p_costs, p_scopes) with ordinality as u (key, request, cost, scope)
    join api_key k on k.key_hash = u.key and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
    order by k.account_id, u.ordinality
  loop
    at := c.ordinality;
    if a.id is distinct from c.account_id then
      if v_held then
        update account x set win = a.win, win_used = a.win_used, period = a.period, granted = a.granted,
          purchased = a.purchased, total_used = a.total_used where x.id = a.id;
      end if;
      if p_wait then
        select * into a from account x where x.id = c.account_id for no key update;
      else
        select * into a from account x where x.id = c.account_id for no key update skip locked;
      end if;
      v_held := found;
      if v_held then
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
  if v_held then
    update account x set win = a.win, win_used = a.win_used, period = a.period, granted = a.granted,
      purchased = a.purchased, total_used = a.total_used where x.id = a.id;
  end if;
  if v_at is not null then
    insert into ledger (account_id, request_id, reason, delta, from_granted, period)
    select u.account, p_requests[u.at], 'charge:' || p_routes[u.at], -p_costs[u.at], u.granted, u.period
    from unnest(v_at, v_accounts, v_granted_parts, v_periods) as u (at, account, granted, period);
  end if;
end $$;

-- Sets a plan with its limits. More credits a month than this month has brought are there at once, fewer from
-- the next month on. False: there is no such account.
create function change_plan(p_account text, p_request text, p_plan text, p_rpm int, p_max_wallets int,
  p_monthly_credits bigint)
returns boolean language plpgsql as $$
declare
  a account;
  v_more bigint;
begin
  select * into a from account x where x.id = p_account for no key update;
  if not found then return false; end if;
  if a.period = current_period() then
    select p_monthly_credits - coalesce(sum(delta), 0) into v_more
    from ledger where account_id = a.id and reason = 'grant:' || a.period;
    if v_more > 0 then
      insert into ledger (account_id, request_id, reason, delta)
      values (a.id, p_request, 'grant:' || a.period, v_more);
      a.granted := a.granted + v_more;
    end if;
  end if;
  update account set plan = p_plan, rpm = p_rpm, max_wallets = p_max_wallets,
    monthly_credits = p_monthly_credits, granted = a.granted
  where id = a.id;
  return true;
end $$;
revoke execute on function change_plan from public;
`
