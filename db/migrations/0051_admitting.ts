/** Accounts of calls that come together are read and written together, and a wallet is paid for and made by one call. */

const calls = `
-- As before. All accounts are locked by one statement, in the order of their ids, and written by one: each statement
-- that writes an account reads the text of all its checks first, which costs more than what it writes.
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
  if p_wait then
    perform from account x where x.id = any (array(select k.account_id from api_key k where k.key_hash = any (p_keys)))
    order by x.id for no key update;
  end if;
  for c in
    -- By values that the planner does not know: it would plan anew for each number of calls.
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
`

const wallets = `
-- True: until the end of the transaction nobody else charges the account, or gives it a wallet. Waits for nobody.
create function hold_account(p_account text) returns boolean
language sql security definer set search_path = public, pg_temp as
  $$ select true from account a where a.id = p_account for no key update skip locked $$;

-- Charges the call that makes a wallet, and stores it, as whoever calls. No row, and nothing is charged or stored, where
-- there is something to refuse, to find or to wait for: credits or wallets are used up, the user has one, or somebody
-- holds the account.
create function make_wallet(p_account text, p_request text, p_cost bigint, p_route text, p_id text, p_user text,
  p_address text, p_metadata json, p_kek text, p_sealed bytea)
returns setof timestamptz language plpgsql as $$
begin
  if hold_account(set_config('app.account', p_account, true)) is not true then return; end if;
  -- By a statement of its own, which sees what was there when the account was taken hold of.
  if exists (select from account a where a.id = p_account and a.wallets >= a.max_wallets)
    or exists (select from wallet w where w.account_id = p_account and w.user_id = p_user)
  then return; end if;
  if not (select c.paid from charge_call(p_account, p_request, p_cost, p_route) as c) then return; end if;
  return query
    select w.made_at from insert_wallet(p_id, p_account, p_user, p_address, p_metadata, p_kek, p_sealed) as w;
  if not found then raise exception 'user % got a wallet while account % was held', p_user, p_account; end if;
end $$;
revoke execute on function hold_account, make_wallet from public;
grant execute on function hold_account, make_wallet to steward_api;
`

export const admitting = `${calls}${wallets}`
