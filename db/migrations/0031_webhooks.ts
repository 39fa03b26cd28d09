/** Events of accounts beside those of intents, and webhooks: who is sent them, and how each delivery goes. */

const accountEvents = `
alter table intent_event alter column intent_id drop not null;
alter table intent_event drop constraint intent_event_type_check;
alter table intent_event add constraint intent_event_type_check check (type in (
  'created', 'planned', 'executing', 'completed', 'failed', 'cancelled', 'reopened',
  'delayed', 'delay_over', 'recovered',
  'step_started', 'step_progressed', 'step_completed', 'step_failed', 'step_reverted',
  'wallet.created', 'wallet.funded', 'credits.low', 'credits.exhausted', 'webhook.test', 'webhook.disabled'));
alter table intent_event add constraint intent_event_subject
  check ((intent_id is null) = (type like '%.%'));
create index intent_event_told on intent_event (xact, id);
comment on table intent_event is
  'What has happened to intents and their steps, and in accounts beside them. Append-only, written in the transaction that did it.';
comment on column intent_event.intent_id is 'Null: an event of the account, whose type has a dot.';

create or replace function place_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.intent_id is not null then
    select i.wallet_id into new.wallet_id from intent i where i.id = new.intent_id;
  end if;
  return new;
end $$;

create function tell_wallet() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (account_id, wallet_id, type, data) values (new.account_id, new.id,
    'wallet.created', json_build_object('userId', new.user_id, 'address', new.address));
  return null;
end $$;
create trigger wallet_told after insert on wallet for each row execute function tell_wallet();

-- A funding is completed once, whatever a reorg does to its block: what vanished is sent again by itself.
create function tell_funding() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (account_id, wallet_id, type, data)
  select new.account_id, new.wallet_id, 'wallet.funded', json_strip_nulls(json_build_object(
    'fundingId', new.id, 'chain', (select c.name from chain c where c.id = new.chain_id), 'asset', 'USDC',
    'units', new.units::text, 'txHash', (select o.tx_hash from operation o
      where o.intent_id = new.id and o.kind = 'fund' and o.sequence = 1)));
  return null;
end $$;
create trigger funding_told after update of completed_at on funding for each row
  when (old.completed_at is null and new.completed_at is not null) execute function tell_funding();

alter table account add column credits_told smallint not null default 0 check (credits_told between 0 and 2);
comment on column account.credits_told is
  'What was told of this fall of the credits: 1, that less than a tenth of a month is left, 2, that nothing is. New credits take back what does not hold any more.';

-- 2: nothing is left, 1: less than a tenth of a month, 0: more.
create function credits_level(p_left bigint, p_month bigint) returns int language sql immutable as
  $$ select case when p_left <= 0 then 2 when p_left * 10 < p_month then 1 else 0 end $$;

-- Decided by the row alone, so that the usual request costs two comparisons and no call. What is given back
-- does not begin another fall: a request that fails at the threshold would tell of it each time. The first call
-- of a month brings the credits that it takes from.
create function tell_credits() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_left bigint := new.granted + new.purchased;
  v_before bigint := case when new.period > old.period
    then new.monthly_credits + old.purchased else old.granted + old.purchased end;
  v_level int := credits_level(v_left, new.monthly_credits);
begin
  if new.period > old.period or new.total_purchased <> old.total_purchased
    or new.monthly_credits <> old.monthly_credits
  then
    new.credits_told := least(new.credits_told, credits_level(greatest(v_before, v_left), new.monthly_credits));
  end if;
  if v_left < v_before and v_level > new.credits_told then
    insert into intent_event (account_id, type, data)
    select new.id, told.type, json_build_object('balance', v_left, 'monthlyCredits', new.monthly_credits)
    from (values (1, 'credits.low'), (2, 'credits.exhausted')) as told (level, type)
    where told.level > new.credits_told and told.level <= v_level order by told.level;
    new.credits_told := v_level;
  end if;
  return new;
end $$;
create trigger account_credits before update on account for each row when (
  (new.granted + new.purchased < case when new.period > old.period
    then new.monthly_credits + old.purchased else old.granted + old.purchased end and (
    (new.granted + new.purchased <= 0 and new.credits_told < 2)
    or ((new.granted + new.purchased) * 10 < new.monthly_credits and new.credits_told < 1)))
  or (new.credits_told > 0 and (new.period > old.period
    or new.total_purchased <> old.total_purchased or new.monthly_credits <> old.monthly_credits)))
  execute function tell_credits();
revoke execute on function tell_wallet, tell_funding, tell_credits from public;
`

const tables = `
create table webhook_key (
  only_row boolean primary key default true check (only_row),
  id text not null unique,
  public_key bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table webhook_key is
  'The public half of the key that secrets of webhooks are sealed to. The private half is in a file of the worker.';

create table webhook (
  id text primary key,
  account_id text not null references account,
  url text not null,
  events text[] check (cardinality(events) > 0),
  description text not null default '',
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  disabled_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  check ((status = 'disabled') = (disabled_at is not null)),
  check ((status = 'disabled') = (disabled_reason is not null))
);
create index webhook_account on webhook (account_id, id) where deleted_at is null;
create index webhook_enabled on webhook (account_id) where deleted_at is null and status = 'enabled';
comment on table webhook is 'Where an account wants to be told what happens.';
comment on column webhook.events is 'The types that are sent, as in intent_event. Null: all.';
comment on column webhook.deleted_at is 'Its deliveries are kept as long as others.';

create table webhook_secret (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook,
  key_id text not null references webhook_key (id),
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz
);
create unique index webhook_secret_current on webhook_secret (webhook_id) where ends_at is null;
comment on table webhook_secret is
  'What deliveries are signed with. Sealed to the worker: neither a dump nor the API, which has made it, can tell it.';
comment on column webhook_secret.ends_at is 'Null: the current one. Others sign beside it until then.';

create table webhook_delivery (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook,
  account_id text not null,
  event_id bigint not null,
  type text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts jsonb not null default '[]',
  run int not null default 1,
  run_attempts int not null default 0,
  run_since timestamptz not null default clock_timestamp(),
  next_attempt_at timestamptz default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  unique (webhook_id, event_id),
  check ((status = 'pending') = (next_attempt_at is not null))
);
create index webhook_delivery_list on webhook_delivery (webhook_id, id);
create index webhook_delivery_undispatched on webhook_delivery (webhook_id, id)
  where dispatched_at is null and status = 'pending';
create index webhook_delivery_due on webhook_delivery (next_attempt_at) where status = 'pending';
comment on table webhook_delivery is 'One event on its way to one endpoint. Kept for 30 days.';
comment on column webhook_delivery.type is 'Of the event, as in intent_event.';
comment on column webhook_delivery.attempts is
  'The latest tries, the oldest first: {at, ms, status?, error?, body?}, of the answer the first 1 kB.';
comment on column webhook_delivery.run is
  'Counts up when it is asked for again: a workflow of an earlier run ends when it sees that.';

create table webhook_dispatch (
  only_row boolean primary key default true check (only_row),
  xact xid8 not null,
  id bigint not null
);
insert into webhook_dispatch (xact, id) values (pg_current_xact_id(), 0);
comment on table webhook_dispatch is
  'The place in the story of all accounts up to which deliveries have been made. See intent_event.xact.';
`

const rights = `
alter table webhook enable row level security;
create policy own_account on webhook to steward_api
  using (account_id = current_account()) with check (account_id = current_account());
create policy all_accounts on webhook to steward_worker using (true);
alter table webhook_secret enable row level security;
create policy own_account on webhook_secret to steward_api
  using (webhook_id in (select id from webhook)) with check (webhook_id in (select id from webhook));
create policy all_accounts on webhook_secret for select to steward_worker using (true);
alter table webhook_delivery enable row level security;
create policy own_account on webhook_delivery to steward_api
  using (account_id = current_account()) with check (account_id = current_account());
create policy all_accounts on webhook_delivery to steward_worker using (true);
create policy all_events on intent_event for select to steward_worker using (true);

grant select on intent_event to steward_worker;
grant select on webhook_key to steward_api, steward_worker;
grant insert (id, public_key) on webhook_key to steward_worker;
grant select on webhook to steward_api, steward_worker;
grant insert (id, account_id, url, events, description) on webhook to steward_api;
grant update (url, events, description, status, disabled_reason, disabled_at, deleted_at) on webhook to steward_api;
grant insert (webhook_id, key_id, sealed), select (webhook_id, ends_at), update (ends_at) on webhook_secret to steward_api;
grant select on webhook_secret to steward_worker;
grant select, update (status, run, run_attempts, run_since, next_attempt_at, dispatched_at) on webhook_delivery
  to steward_api;
grant select, delete, update (status, attempts, run_attempts, next_attempt_at, dispatched_at) on webhook_delivery
  to steward_worker;
`

const functions = `
-- Turns what has been told since the last time into deliveries, in the order in which it is told. One caller at
-- a time. Definer, so that nobody can make a delivery of what has not happened.
-- is_full: there is more. is_held: there is more that an older transaction still holds back.
create function dispatch_webhooks(p_limit int)
returns table (made int, is_full boolean, is_held boolean)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  d webhook_dispatch;
  v_horizon xid8;
  v_told int := 0;
begin
  select * into d from webhook_dispatch for update;
  v_horizon := pg_snapshot_xmin(pg_current_snapshot());
  made := 0;
  if exists (select from webhook w where w.status = 'enabled' and w.deleted_at is null) then
    with told as materialized (
      select e.id, e.xact, e.account_id, e.type, e.at from intent_event e
      where (e.xact, e.id) > (d.xact, d.id) and e.xact < v_horizon
      order by e.xact, e.id limit p_limit
    ), deliveries as (
      insert into webhook_delivery (webhook_id, account_id, event_id, type)
      select w.id, t.account_id, t.id, t.type
      from told t join webhook w on w.account_id = t.account_id
      where w.status = 'enabled' and w.deleted_at is null and w.created_at < t.at
        and (w.events is null or t.type = any (w.events)) and t.type <> 'webhook.test'
      order by t.xact, t.id
      on conflict (webhook_id, event_id) do nothing
      returning 1
    )
    select t.told, t.made, coalesce(l.xact, d.xact), coalesce(l.id, d.id)
    into v_told, made, d.xact, d.id
    from (select (select count(*) from told) as told, (select count(*) from deliveries) as made) t
    left join lateral (select told.xact, told.id from told order by told.xact desc, told.id desc limit 1) l on true;
  end if;
  is_full := v_told >= p_limit;
  -- All before the horizon has been read: a later transaction can put nothing there.
  if not is_full and d.xact < v_horizon then
    d.xact := v_horizon;
    d.id := 0;
  end if;
  update webhook_dispatch set xact = d.xact, id = d.id where (xact, id) <> (d.xact, d.id);
  is_held := exists (select from intent_event e where (e.xact, e.id) > (d.xact, d.id));
  return next;
end $$;

-- Tells an endpoint that it can be reached, whatever it wants to be told else. Null: there is none, or it is disabled.
create function test_webhook(p_webhook text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  w webhook;
  v_event bigint;
  v_delivery bigint;
begin
  select * into w from webhook x
  where x.id = p_webhook and x.account_id = current_account() and x.deleted_at is null and x.status = 'enabled';
  if not found then return null; end if;
  insert into intent_event (account_id, type, data)
  values (w.account_id, 'webhook.test', json_build_object('webhookId', w.id)) returning id into v_event;
  insert into webhook_delivery (webhook_id, account_id, event_id, type)
  values (w.id, w.account_id, v_event, 'webhook.test') returning id into v_delivery;
  return v_delivery;
end $$;

-- Sends nothing more to an endpoint, and tells its account so, once.
create function disable_webhook(p_webhook text, p_reason text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare w webhook;
begin
  update webhook x set status = 'disabled', disabled_reason = p_reason, disabled_at = clock_timestamp()
  where x.id = p_webhook and x.status = 'enabled' and x.deleted_at is null returning * into w;
  if not found then return; end if;
  insert into intent_event (account_id, type, data)
  values (w.account_id, 'webhook.disabled', json_build_object('webhookId', w.id, 'reason', p_reason));
end $$;
revoke execute on function dispatch_webhooks, test_webhook, disable_webhook from public;
grant execute on function dispatch_webhooks, disable_webhook to steward_worker;
grant execute on function test_webhook to steward_api;
`

export const webhooks = `${accountEvents}${tables}${rights}${functions}`
