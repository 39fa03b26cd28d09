-- The event log of accounts.

create sequence intent_event_number as bigint;
-- Events of intents and their steps, and of accounts. Append-only, written in the transaction of the change. One
-- partition per month. The default partition holds rows without one.
create table intent_event (
  id bigint default nextval('intent_event_number'::regclass),
  -- Null: an event of the account. Its type contains a dot.
  intent_id text,
  account_id text not null,
  type text not null
    check (type in ('created', 'planned', 'executing', 'completed', 'failed', 'cancelled', 'reopened',
      'delayed', 'delay_over', 'recovered', 'step_started', 'step_progressed', 'step_completed', 'step_failed',
      'step_reverted', 'wallet.created', 'wallet.funded', 'credits.low', 'credits.exhausted', 'webhook.test',
      'webhook.disabled')),
  data json not null,
  at timestamptz default clock_timestamp(),
  -- The transaction that wrote the event. Readers page by (xact, id) up to the oldest running transaction. By id alone
  -- they would miss an event that was numbered earlier and committed later. A restored dump starts new transaction
  -- numbers: set xact to 3 in all rows of the dump.
  xact xid8 not null default pg_current_xact_id(),
  -- The wallet of the intent, for the index on the timeline of a wallet.
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
create index intent_event_order on intent_event (xact, id);
alter table intent_event enable row level security;
create policy own_account on intent_event to steward_api using (account_id = current_account((select true)));
create policy all_events on intent_event for select to steward_worker using (true);
grant select on intent_event to steward_api, steward_worker;

-- The lower end of the event log.
create table event_floor (
  only_row boolean default true primary key check (only_row),
  -- The highest deleted event number. A reader that resumes after a missing event up to this number may have missed
  -- events.
  id bigint not null,
  -- Events before this time are deleted. Null: none is deleted.
  before timestamptz
);
grant select on event_floor to steward_api, steward_worker;

-- Emits the first events of an intent.
create function emit_creation_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select new.id, new.account_id, new.wallet_id, first.type, event_data(new, first.type)
  from unnest(case new.status when 'planning' then '{created,planned}' else '{created}' end::text[]) as first (type);
  return null;
end $$;
create trigger intent_created after insert on intent
  for each row execute function emit_creation_event();

-- Notifies listeners of the accounts of new events, each once per transaction.
create function announce_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_notify('intent_event', t.account_id) from (select distinct account_id from inserted) t;
  return null;
end $$;
create trigger intent_event_announced after insert on intent_event
  referencing new table as inserted for each statement execute function announce_events();

-- Emits wallet.funded once, for a confirmed payment. A funding that is resent after a reorg emits no second event.
create function emit_funding_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from operation o
    where o.for_funding = new.id and o.success and o.state in ('confirmed', 'final'))
  then
    raise exception 'Funding % is not paid.', new.id using errcode = 'restrict_violation';
  end if;
  insert into intent_event (account_id, wallet_id, type, data)
  select new.account_id, new.wallet_id, 'wallet.funded', json_strip_nulls(json_build_object(
    'fundingId', new.id, 'chain', (select c.name from chain c where c.id = new.chain_id), 'asset', 'USDC',
    'units', o.units::text, 'txHash', o.tx_hash))
  from operation o where o.for_funding = new.id;
  return null;
end $$;
create trigger funding_arrived after update of completed_at on funding
  for each row when (old.completed_at is null and new.completed_at is not null) execute function emit_funding_event();

-- Emits credits.low below a tenth of the monthly credits and credits.exhausted at zero, once until new credits arrive.
-- A refund does not reset it. The trigger's condition keeps the function out of ordinary requests.
create function emit_credits_event() returns trigger
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
    new.credits_warning := least(new.credits_warning, credits_level(greatest(v_before, v_left), new.monthly_credits));
  end if;
  if v_left < v_before and v_level > new.credits_warning then
    insert into intent_event (account_id, type, data)
    select new.id, warning.type, json_build_object('balance', v_left, 'monthlyCredits', new.monthly_credits)
    from (values (1, 'credits.low'), (2, 'credits.exhausted')) as warning (level, type)
    where warning.level > new.credits_warning and warning.level <= v_level order by warning.level;
    new.credits_warning := v_level;
  end if;
  return new;
end $$;
create trigger account_credits before update on account
  for each row when (
    new.granted + new.purchased < case when new.period > old.period then new.monthly_credits + old.purchased
        else old.granted + old.purchased end
      and (new.granted + new.purchased <= 0 and new.credits_warning < 2
        or (new.granted + new.purchased) * 10 < new.monthly_credits and new.credits_warning < 1)
    or new.credits_warning > 0 and (new.period > old.period or new.total_purchased <> old.total_purchased
      or new.monthly_credits <> old.monthly_credits))
  execute function emit_credits_event();

-- The event horizon: every event of an earlier transaction is committed or never will be. It is the oldest running
-- transaction of this database. A transaction whose database is unknown counts as ours: one that has just ended, or one
-- that the owner of this function may not see (role pg_read_all_stats). Definer, to see more than the caller.
create function event_horizon() returns xid8
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

-- Creates the partitions of a table for the current day or month (p_unit) and the next p_ahead, and moves matching
-- rows of the default partition into them. A busy table is not waited for longer than lock_timeout: the next run
-- retries.
create function create_partitions(p_table text, p_unit text, p_ahead int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
declare
  v_default text := p_table || '_default';
  v_length interval := '1 ' || p_unit;
  v_from timestamp;
  v_range text;
  v_name text;
  v_made int := 0;
begin
  if p_table not in ('intent_event', 'request_log') or p_ahead > 31 then
    raise exception '% has no such partitions.', p_table using errcode = 'invalid_parameter_value';
  end if;
  execute format('lock table %I in share update exclusive mode', p_table);
  for v_from in execute format($sql$
    select date_trunc(%1$L, now() at time zone 'UTC') + n * %2$L::interval from generate_series(0, %3$s) n
    union select date_trunc(%1$L, at at time zone 'UTC') from %4$I
    order by 1 $sql$, p_unit, v_length, p_ahead, v_default)
  loop
    v_name := p_table || '_' || to_char(v_from, 'YYYYMMDD');
    continue when to_regclass(v_name) is not null;
    execute format('create table %I (like %I including all)', v_name, p_table);
    execute format('lock table %I in access exclusive mode', v_default);
    execute format('with moved as (delete from %I where at >= %L and at < %L returning *)
      insert into %I select * from moved', v_default, v_from at time zone 'UTC',
      (v_from + v_length) at time zone 'UTC', v_name);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, v_name,
      v_from at time zone 'UTC', (v_from + v_length) at time zone 'UTC');
    v_made := v_made + 1;
  end loop;
  return v_made;
end $$;

-- Drops the partitions of a table that ended p_days ago. Requests are kept for at least 30 days. Events are kept for at
-- least 31 days, and while a webhook delivery of them is pending or can be repeated. event_floor records the highest
-- deleted number.
create function drop_partitions(p_table text, p_days int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
declare
  v_part regclass;
  v_until timestamptz;
  v_last bigint;
  v_is_needed boolean;
  v_dropped int := 0;
  v_days int := greatest(p_days, case p_table when 'intent_event' then 31 when 'request_log' then 30 end);
begin
  if p_table not in ('intent_event', 'request_log') then
    raise exception '% has no such partitions.', p_table using errcode = 'invalid_parameter_value';
  end if;
  for v_part, v_until in
    select c.oid, substring(pg_get_expr(c.relpartbound, c.oid) from $e$TO \('([^']+)'\)$e$)::timestamptz as until
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = p_table::regclass
    order by until
  loop
    -- The default partition has no upper bound and is listed last.
    exit when v_until is null or v_until > now() - v_days * interval '1 day';
    if p_table = 'intent_event' then
      execute format('select max(id) from %s', v_part) into v_last;
      execute format('select exists (
          select from webhook w cross join webhook_dispatch d join %s e on e.account_id = w.account_id
          where w.status = ''enabled'' and w.deleted_at is null and (e.xact, e.id) > (d.xact, d.id)
        ) or exists (
          select from webhook w join webhook_delivery d on d.webhook_id = w.id where d.event_id <= $1)', v_part)
        into v_is_needed using v_last;
      exit when v_is_needed;
      update event_floor set id = greatest(id, coalesce(v_last, 0)), before = v_until;
    end if;
    execute format('drop table %s', v_part);
    v_dropped := v_dropped + 1;
  end loop;
  return v_dropped;
end $$;

-- The data of an intent's event, from its current row.
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

grant execute on function event_horizon to steward_api, steward_worker;
grant execute on function create_partitions, drop_partitions to steward_worker;

insert into event_floor (id) values (0);
select create_partitions('intent_event', 'month', 2);
