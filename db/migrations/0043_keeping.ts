/** How long is kept what only grows: events by the month, bytes of what is mined, entries of the ledger. */

const events = `
-- A partition a month, so that what is too old goes at once. No identity: before version 17 the server makes none for
-- a table in parts.
create sequence intent_event_number as bigint;
select setval('intent_event_number', coalesce(max(id), 0) + 1, false) from intent_event;
drop trigger intent_event_place on intent_event;
drop trigger intent_event_told on intent_event;
drop policy own_account on intent_event;
drop policy all_events on intent_event;
revoke all on intent_event from steward_api, steward_worker;
alter table intent_event alter column id drop identity;
alter table intent_event rename to intent_event_first;
alter index intent_event_pkey rename to intent_event_first_pkey;
alter index intent_event_account rename to intent_event_first_account;
alter index intent_event_intent rename to intent_event_first_intent;
alter index intent_event_wallet rename to intent_event_first_wallet;
alter index intent_event_type rename to intent_event_first_type;
alter index intent_event_told rename to intent_event_first_told;

create table intent_event (like intent_event_first including defaults including constraints including comments)
  partition by range (at);
alter table intent_event alter column id set default nextval('intent_event_number');
alter sequence intent_event_number owned by intent_event.id;
-- What was told before is one part, until the month is over: that of the last event where a clock was ahead.
alter table intent_event_first drop constraint intent_event_first_pkey;
alter table intent_event_first add primary key (id, at);
do $$ begin
  execute format('alter table intent_event attach partition intent_event_first for values from (minvalue) to (%L)',
    (select date_trunc('month', greatest(now(), max(at)) at time zone 'UTC') + interval '1 month'
      from intent_event_first) at time zone 'UTC');
end $$;
alter table intent_event add primary key (id, at);
create index intent_event_account on intent_event (account_id, xact, id);
create index intent_event_intent on intent_event (intent_id, xact, id);
create index intent_event_wallet on intent_event (wallet_id, xact, id);
create index intent_event_type on intent_event (account_id, type, xact, id);
create index intent_event_told on intent_event (xact, id);
create table intent_event_default partition of intent_event default;
comment on table intent_event is
  'What has happened to intents and their steps, and in accounts beside them. Append-only, written in the transaction that did it. A partition a month; the default one takes what has none.';
create trigger intent_event_place before insert on intent_event
  for each row execute function place_event();
create trigger intent_event_told after insert on intent_event
  referencing new table as told for each statement execute function announce_events();
alter table intent_event enable row level security;
create policy own_account on intent_event to steward_api using (account_id = current_account((select true)));
create policy all_events on intent_event for select to steward_worker using (true);
grant select on intent_event to steward_api, steward_worker;

create table event_floor (
  only_row boolean primary key default true check (only_row),
  id bigint not null,
  before timestamptz
);
insert into event_floor (id) values (0);
comment on table event_floor is 'Which events are kept no longer.';
comment on column event_floor.id is
  'The highest number of one: whoever goes on after an event that is not there, up to this one, may have missed some.';
comment on column event_floor.before is 'Those that were told before it. Null: all are kept.';
grant select on event_floor to steward_api, steward_worker;

-- Where a partition of events ends; null for the default one.
create function event_part_end(p_part regclass) returns timestamptz language sql stable as $$
  select substring(pg_get_expr(c.relpartbound, c.oid) from $e$TO \\('([^']+)'\\)$e$)::timestamptz
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

select extend_events(2);
revoke execute on function event_part_end, extend_events, shorten_events from public;
grant execute on function extend_events, shorten_events to steward_worker;
`

const sends = `
-- Most of what a transaction takes up is its bytes, and nobody sends again what is final. Its nonce stays taken, and
-- its hashes tell what was sent.
comment on column chain_tx_send.raw is
  'The signed bytes. Empty when the transaction has been final, or lost, for a month: nobody sends it again.';
create index chain_tx_send_age on chain_tx_send (created_at) where raw <> '';
create function forget_bytes(p_days int, p_limit int) returns int
language sql security definer set search_path = public, pg_temp as $$
  -- As an array, here and below: a join might run the inner query, and lock its rows, more than once.
  with forgotten as (
    update chain_tx_send s set raw = '' where s.hash = any (array(
      select x.hash from chain_tx_send x join chain_tx t on t.id = x.tx_id
      -- Stable within the statement, as an index asks of what it is searched by.
      where x.raw <> '' and x.created_at < statement_timestamp() - p_days * interval '1 day'
        and t.state in ('final', 'lost')
      order by x.created_at limit p_limit for update of x skip locked))
    returning 1)
  select count(*)::int from forgotten
$$;
revoke execute on function forget_bytes from public;
grant execute on function forget_bytes to steward_worker;
`

const ledger = `
-- What was charged and given back in a month long ago is one entry for each account and reason. Its sum is what theirs
-- was, so that an account's entries add up to its balance at any moment. Purchases and grants stay as they are.
alter table ledger add column entries int not null default 1 check (entries > 0),
  add column summed boolean not null default false;
comment on column ledger.entries is 'How many charges, or refunds, it is the sum of.';
comment on column ledger.summed is 'It stands for those of a month.';
create index ledger_age on ledger (created_at)
  where not summed and (reason like 'charge:%' or reason = 'refund');
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
revoke execute on function sum_ledger from public;
grant execute on function sum_ledger to steward_worker;
`

export const keeping = `${events}${sends}${ledger}`
