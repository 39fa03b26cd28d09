/** Rate windows, credits and their ledger, decided in one call per request. */
export const metering = `
alter table account
  add column rpm int not null default 100 check (rpm > 0),
  add column max_wallets int check (max_wallets >= 0),
  add column monthly_credits bigint not null default 100 check (monthly_credits >= 0),
  add column win bigint not null default 0,
  add column win_used int not null default 0,
  add column period int not null default 0,
  add column granted bigint not null default 0 check (granted >= 0),
  add column purchased bigint not null default 0 check (purchased >= 0),
  add column total_purchased bigint not null default 0,
  add column total_used bigint not null default 0;
-- Every request updates its account: room on the page keeps these updates out of the indexes.
alter table account set (fillfactor = 50);
update account set
  rpm = case plan when 'free' then 100 when 'pro' then 1000 else 10000 end,
  max_wallets = case plan when 'free' then 100 when 'pro' then 10000 end,
  monthly_credits = case plan when 'free' then 100 when 'pro' then 10000 else 1000000 end;
comment on column account.win is 'The clock minute (Unix time / 60) that win_used counts.';
comment on column account.period is 'The month (YYYYMM, UTC) that granted belongs to.';
comment on column account.granted is 'Left of the monthly credits. Lapses with its month.';
comment on column account.purchased is 'Left of the purchased credits. Never lapses.';

alter table api_key
  add column prefix text not null default 'svc_sk_',
  add column scopes text[] not null default '{read,write}'
    check (scopes <@ '{read,write}' and cardinality(scopes) > 0),
  add column last_used_at timestamptz;

create table ledger (
  id bigint generated always as identity primary key,
  account_id text not null references account,
  request_id text not null,
  reason text not null,
  delta bigint not null,
  from_granted bigint not null default 0,
  period int,
  created_at timestamptz not null default clock_timestamp(),
  unique (request_id, reason)
);
create index ledger_account on ledger (account_id, id);
comment on table ledger is 'Append-only. The sum of an account''s deltas is its balance.';
comment on column ledger.request_id is 'Made by the service, never the caller''s.';
comment on column ledger.from_granted is 'How much of a charge came from the monthly credits, so that a refund goes back there.';
comment on column ledger.period is 'The month that from_granted was taken from.';

create function current_period() returns int language sql volatile as
  $$ select to_char(clock_timestamp() at time zone 'UTC', 'YYYYMM')::int $$;

-- All that follows locks the account \`for no key update\`: rows that only refer to it, such as a claimed
-- idempotency key, hold it for key share, and two of those would wait for each other's stronger lock.

-- Sets the monthly credits anew in the first call of a month. The account's row is locked by the caller.
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

-- Takes credits, the monthly ones first. The caller has checked that they suffice.
create function take_credits(a account, p_request text, p_cost bigint, p_route text)
returns account language plpgsql as $$
declare v_granted bigint := least(a.granted, p_cost);
begin
  if p_cost = 0 then return a; end if;
  insert into ledger (account_id, request_id, reason, delta, from_granted, period)
  values (a.id, p_request, 'charge:' || p_route, -p_cost, v_granted, a.period);
  a.granted := a.granted - v_granted;
  a.purchased := a.purchased - (p_cost - v_granted);
  a.total_used := a.total_used + p_cost;
  return a;
end $$;

create function save_account(a account) returns void language sql as $$
  update account set win = a.win, win_used = a.win_used, period = a.period, granted = a.granted,
    purchased = a.purchased, total_used = a.total_used
  where id = a.id
$$;

-- Who calls, may they now, and what does it cost: one call, exact however many processes ask. No row: 401.
-- Security definer: the account is not known before, so that no row policy can name it.
create function admit(p_key_hash bytea, p_request text, p_cost bigint, p_route text, p_scope text)
returns table (account_id text, plan text, key_id text, scopes text[], rpm int, max_wallets int,
  win_used int, reset_at bigint, retry_after int, balance bigint, code int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  k api_key;
  a account;
  v_win bigint;
  v_code int := 200;
begin
  select * into k from api_key x where x.key_hash = p_key_hash and x.revoked_at is null
    and (x.expires_at is null or x.expires_at > clock_timestamp());
  if not found then return; end if;
  -- A crash may lose the last moment's counts and charges of reads, in the caller's favour, and nothing else:
  -- whoever pays for an effect waits for the disk in the transaction of that effect.
  perform set_config('synchronous_commit', 'off', true);
  if k.last_used_at is null or k.last_used_at < clock_timestamp() - interval '1 minute' then
    update api_key x set last_used_at = clock_timestamp()
    where x.id = k.id and x.last_used_at is not distinct from k.last_used_at;
  end if;
  select * into a from account x where x.id = k.account_id for no key update;
  -- Read after the lock. A clock that steps back must not open a window again, and one that was set far
  -- ahead for a moment must not keep this one open.
  v_win := floor(extract(epoch from clock_timestamp()) / 60)::bigint;
  if v_win > a.win or v_win < a.win - 1 then
    a.win := v_win;
    a.win_used := 0;
  end if;
  if a.win_used >= a.rpm then
    v_code := 429;
  else
    a.win_used := a.win_used + 1;
    a := renew_credits(a, p_request);
    if p_scope <> all (k.scopes) then v_code := 403;
    elsif a.granted + a.purchased < p_cost then v_code := 402;
    else a := take_credits(a, p_request, p_cost, p_route);
    end if;
    perform save_account(a);
  end if;
  return query select a.id, a.plan, k.id, k.scopes, a.rpm, a.max_wallets, a.win_used, (a.win + 1) * 60,
    greatest(1, (a.win + 1) * 60 - floor(extract(epoch from clock_timestamp())))::int,
    a.granted + a.purchased, v_code;
end $$;

-- The charge of a POST, inside the transaction that creates what it pays for, and what is left then.
create function charge_call(p_account text, p_request text, p_cost bigint, p_route text)
returns table (paid boolean, balance bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare a account;
begin
  select * into a from account x where x.id = p_account for no key update;
  a := renew_credits(a, p_request);
  paid := a.granted + a.purchased >= p_cost;
  if paid then a := take_credits(a, p_request, p_cost, p_route); end if;
  perform save_account(a);
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
  a.granted := a.granted + v_granted;
  a.purchased := a.purchased + (-c.delta - c.from_granted);
  a.total_used := a.total_used + c.delta;
  perform save_account(a);
end $$;

-- Credits that an operator sells or gives.
create function purchase_credits(p_account text, p_request text, p_credits bigint)
returns void language plpgsql as $$
begin
  insert into ledger (account_id, request_id, reason, delta)
  values (p_account, p_request, 'purchase', p_credits);
  update account set purchased = purchased + p_credits, total_purchased = total_purchased + p_credits
  where id = p_account;
end $$;

revoke execute on function admit(bytea, text, bigint, text, text), charge_call(text, text, bigint, text),
  refund_call(text), purchase_credits(text, text, bigint) from public;
grant execute on function admit(bytea, text, bigint, text, text), charge_call(text, text, bigint, text),
  refund_call(text) to steward_api;
grant execute on function refund_call(text) to steward_worker;
grant select on ledger to steward_api;
`
