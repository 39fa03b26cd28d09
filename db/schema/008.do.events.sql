-- The event log of an account.

create sequence intent_event_number as bigint;
-- What has happened to intents and their steps, and in accounts beside them. Append-only, written in the transaction
-- that did it. A partition a month; the default one takes what has none.
create table intent_event (
  id bigint default nextval('intent_event_number'::regclass),
  -- Null: an event of the account, whose type has a dot.
  intent_id text,
  account_id text not null,
  type text not null
    check (type in ('created', 'planned', 'executing', 'completed', 'failed', 'cancelled', 'reopened',
      'delayed', 'delay_over', 'recovered', 'step_started', 'step_progressed', 'step_completed', 'step_failed',
      'step_reverted', 'wallet.created', 'wallet.funded', 'credits.low', 'credits.exhausted', 'webhook.test',
      'webhook.disabled')),
  data json not null,
  at timestamptz default clock_timestamp(),
  -- The transaction that wrote it. Readers go by (xact, id) up to the oldest transaction that still runs: by id alone
  -- they would pass by an event that was numbered before theirs and committed after. A server that was filled from a
  -- dump counts transactions anew: set it to 3 in all rows of the dump.
  xact xid8 not null default pg_current_xact_id(),
  -- Of the intent, so that the story of one wallet is found by an index.
  wallet_id text,
  primary key (id, at),
  constraint intent_event_subject check ((intent_id is null) = (type like '%.%'))
) partition by range (at);
alter sequence intent_event_number owned by intent_event.id;
create table intent_event_default partition of intent_event default;
create index intent_event_account on intent_event (account_id, xact, id);
create index intent_event_intent on intent_event (intent_id, xact, id);
create index intent_event_wallet on intent_event (wallet_id, xact, id);
create index intent_event_type on intent_event (account_id, type, xact, id);
create index intent_event_told on intent_event (xact, id);
alter table intent_event enable row level security;
create policy own_account on intent_event to steward_api using (account_id = current_account((select true)));
create policy all_events on intent_event for select to steward_worker using (true);
grant select on intent_event to steward_api, steward_worker;

-- Which events are kept no longer.
create table event_floor (
  only_row boolean default true primary key check (only_row),
  -- The highest number of one: whoever goes on after an event that is not there, up to this one, may have missed
  -- some.
  id bigint not null,
  -- Those that were told before it. Null: all are kept.
  before timestamptz
);
grant select on event_floor to steward_api, steward_worker;

-- Writes an event of an intent from its row as it is now.
create function tell_intent(i intent, p_event text) returns void language sql as $$
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  values (i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event))
$$;

-- Writes the first events of an intent.
create function tell_creation() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select new.id, new.account_id, new.wallet_id, told.type, event_data(new, told.type)
  from unnest(case new.status when 'planning' then '{created,planned}' else '{created}' end::text[]) as told (type);
  return null;
end $$;
create trigger intent_created after insert on intent
  for each row execute function tell_creation();

-- Writes that a step has started: with its first operation, which of a bridge is the burn.
create function tell_step() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  values (new.intent_id, new.account_id, new.wallet_id, 'step_started', json_strip_nulls(json_build_object(
    'step', new.sequence, 'kind', new.kind, 'chain', (select c.name from chain c where c.id = new.chain_id),
    'txHash', new.tx_hash)));
  return null;
end $$;
create trigger step_started after insert on operation
  for each row when (new.kind not in ('mint', 'fund')) execute function tell_step();

-- Sets the wallet of an event by its intent.
create function place_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.intent_id is not null then
    select i.wallet_id into new.wallet_id from intent i where i.id = new.intent_id;
  end if;
  return new;
end $$;
create trigger intent_event_place before insert on intent_event
  for each row when (new.wallet_id is null and new.intent_id is not null) execute function place_event();

-- Announces the accounts of new events, each once in a transaction.
create function announce_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_notify('intent_event', t.account_id) from (select distinct account_id from told) t;
  return null;
end $$;
create trigger intent_event_told after insert on intent_event
  referencing new table as told for each statement execute function announce_events();

-- Writes that a wallet was created.
create function tell_wallet() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (account_id, wallet_id, type, data) values (new.account_id, new.id,
    'wallet.created', json_build_object('userId', new.user_id, 'address', new.address));
  return null;
end $$;
create trigger wallet_told after insert on wallet
  for each row execute function tell_wallet();

-- Writes that a funding arrived, once: after a reorg it is sent again and not reported again.
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
create trigger funding_told after update of completed_at on funding
  for each row when (old.completed_at is null and new.completed_at is not null) execute function tell_funding();

-- Writes credits.low below a tenth of the monthly credits and credits.exhausted at none, once for each fall. New credits
-- end a fall; a refund does not. The trigger's condition spares the usual request the call.
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
create trigger account_credits before update on account
  for each row when (
    new.granted + new.purchased < case when new.period > old.period then new.monthly_credits + old.purchased
        else old.granted + old.purchased end
      and (new.granted + new.purchased <= 0 and new.credits_told < 2
        or (new.granted + new.purchased) * 10 < new.monthly_credits and new.credits_told < 1)
    or new.credits_told > 0 and (new.period > old.period or new.total_purchased <> old.total_purchased
      or new.monthly_credits <> old.monthly_credits))
  execute function tell_credits();

-- The transaction before which every event has been committed or never will be: the oldest of this database that runs.
-- Of one that has just ended nobody can tell whose it was, so that it counts as ours; so do all that the owner of this
-- function may not see (role pg_read_all_stats). Definer, to see more than its caller may.
create function told_before() returns xid8
language sql stable security definer set search_path = public, pg_temp as $$
  with now as materialized (select pg_current_snapshot() as snapshot),
  foreigner as materialized (
    select a.backend_xid as xact from pg_stat_activity a
    where a.backend_xid is not null and a.datname <> current_database())
  select coalesce(
    (select min(x.xact) from pg_snapshot_xip(now.snapshot) as x (xact)
     where x.xact::xid not in (select f.xact from foreigner f)),
    pg_snapshot_xmax(now.snapshot))
  from now
$$;

-- Where a partition of events ends; null for the default one.
create function event_part_end(p_part regclass) returns timestamptz language sql stable as $$
  select substring(pg_get_expr(c.relpartbound, c.oid) from $e$TO \('([^']+)'\)$e$)::timestamptz
  from pg_class c where c.oid = p_part
$$;

-- Makes the partitions of this month and the ones after it. Whoever reads or writes must not queue up behind the lock:
-- what does not get it at once is done the next time.
create function extend_events(p_months int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
declare
  v_now timestamp := date_trunc('month', now() at time zone 'UTC');
  v_from timestamp;
  v_name text;
  v_made int := 0;
begin
  lock table intent_event in share update exclusive mode;
  select coalesce(max(event_part_end(i.inhrelid)) at time zone 'UTC', v_now) into v_from
  from pg_inherits i where i.inhparent = 'intent_event'::regclass;
  while v_from <= v_now + p_months * interval '1 month' loop
    v_name := 'intent_event_' || to_char(v_from, 'YYYYMM');
    execute format('create table %I (like intent_event including all)', v_name);
    lock table intent_event_default in access exclusive mode;
    execute format('with moved as (delete from intent_event_default where at >= %L and at < %L returning *)
      insert into %I select * from moved', v_from at time zone 'UTC',
      (v_from + interval '1 month') at time zone 'UTC', v_name);
    execute format('alter table intent_event attach partition %I for values from (%L) to (%L)', v_name,
      v_from at time zone 'UTC', (v_from + interval '1 month') at time zone 'UTC');
    v_from := v_from + interval '1 month';
    v_made := v_made + 1;
  end loop;
  return v_made;
end $$;

-- Drops the partitions that ended more than p_days days ago, and notes up to which number events are gone. One from
-- which deliveries of webhooks are yet to be made, or may be sent again, stays, and those after it.
create function shorten_events(p_days int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
declare
  v_part regclass;
  v_last bigint;
  v_is_needed boolean;
  v_dropped int := 0;
begin
  for v_part in
    select i.inhrelid::regclass from pg_inherits i
    where i.inhparent = 'intent_event'::regclass
      and event_part_end(i.inhrelid) < now() - greatest(p_days, 31) * interval '1 day'
    order by event_part_end(i.inhrelid)
  loop
    execute format('select max(id) from %s', v_part) into v_last;
    execute format('select exists (
        select from webhook w cross join webhook_dispatch d join %s e on e.account_id = w.account_id
        where w.status = ''enabled'' and w.deleted_at is null and (e.xact, e.id) > (d.xact, d.id)
      ) or exists (
        select from webhook w join webhook_delivery d on d.webhook_id = w.id where d.event_id <= $1)', v_part)
      into v_is_needed using v_last;
    exit when v_is_needed;
    update event_floor set id = greatest(id, coalesce(v_last, 0)), before = event_part_end(v_part);
    execute format('drop table %s', v_part);
    v_dropped := v_dropped + 1;
  end loop;
  return v_dropped;
end $$;

-- What an event of an intent says, by its row as it is now.
create function event_data(i intent, p_event text) returns json language sql stable as $$
  select case
    when p_event = 'created' then json_build_object('status', i.status, 'walletId', i.wallet_id,
      'action', i.action, 'asset', i.asset, 'units', i.units::text)
    when p_event = 'planned' then json_build_object('status', i.status,
      'steps', json_array_length(i.plan -> 'steps'))
    when p_event = 'delayed' then json_build_object('status', i.status, 'delay', i.delay)
    when i.status = 'failed' then json_build_object('status', i.status, 'error', i.error)
    else json_build_object('status', i.status) end
$$;

revoke execute on function tell_intent, tell_creation, tell_step, place_event, announce_events, tell_wallet,
  tell_funding, tell_credits, told_before, event_part_end, extend_events, shorten_events, event_data from public;
grant execute on function told_before to steward_api, steward_worker;
grant execute on function extend_events, shorten_events to steward_worker;

insert into event_floor (id) values (0);
select extend_events(2);
