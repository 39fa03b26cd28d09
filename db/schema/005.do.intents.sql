-- Intents, fundings, and the money they reserve.

create table intent (
  id text primary key,
  account_id text not null,
  wallet_id text not null,
  action text not null check (action in ('lend', 'withdraw', 'bridge')),
  asset text not null,
  -- Requested amount in base units of the asset.
  units numeric(78, 0) not null check (units > 0),
  -- The chain named by the caller: where a bridge leads to.
  chain text,
  status text not null check (status in ('pending', 'planning', 'executing', 'completed', 'failed')),
  plan json,
  error json,
  request_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When its workflow was started. Null: a worker starts it, unless the intent is over.
  dispatched_at timestamptz,
  completed_at timestamptz,
  cancelled_at timestamptz,
  from_chain text,
  -- A withdrawal of all there is. units is what it was worth when it was planned.
  everything boolean not null default false,
  -- Lend where most is left after costs over so many days. Null: at the best rate.
  net_over_days int check (net_over_days > 0),
  metadata json,
  -- Why it is late and where the money is meanwhile. Null: it is not late.
  delay json,
  -- The failed intent whose goal this one reaches. One at most: a retry of a retry names the retry.
  retry_of text,
  -- When a worker claimed it to start its workflow: no other one does for a few seconds. Null: never.
  swept_at timestamptz,
  -- Since when its end, which was told, does not hold any more. The sweeper starts its workflow again. Null: nothing
  -- to do.
  recover_at timestamptz,
  -- Heads of chains at which the money was seen that the booked blocks do not show yet. Null: none was needed.
  seen_blocks json,
  -- When its status, plan, error or delay changed last. Null: never since it was created. Steps have times of their
  -- own.
  updated_at timestamptz,
  -- When it was completed, failed or cancelled. Null: it is not over.
  ended_at timestamptz,
  constraint intent_check1 check ((status = 'completed') = (completed_at is not null)),
  constraint intent_check2 check ((status = 'failed') = (error is not null)),
  constraint intent_check3 check ((action = 'bridge') = (from_chain is not null)),
  unique (id, wallet_id),
  foreign key (wallet_id, account_id) references wallet (id, account_id),
  foreign key (retry_of, wallet_id) references intent (id, wallet_id),
  constraint intent_check check (status in ('pending', 'failed') or plan is not null)
);
create index intent_account on intent (account_id, id);
create index intent_wallet on intent (wallet_id, id);
create index intent_recover on intent (recover_at) where recover_at is not null;
create index intent_account_status on intent (account_id, status, id);
create index intent_late on intent (((delay ->> 'since'::text))) where delay is not null and status = 'executing';
create index intent_rare_action on intent (account_id, action, id) where action <> 'lend';
create unique index intent_retry_of_key on intent (retry_of) where retry_of is not null;
create index intent_live on intent (id, status) where status not in ('completed', 'failed');
create index intent_undispatched on intent (account_id, swept_at nulls first, created_at)
  where dispatched_at is null and status not in ('completed', 'failed');
alter table intent enable row level security;
create policy own_account on intent to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on intent to steward_worker, steward_signer using (true) with check (true);
create policy as_new on intent as restrictive for insert to steward_api
  with check (status in ('pending', 'planning') and cancelled_at is null and ended_at is null);
grant select, insert on intent to steward_api;
grant select on intent to steward_worker, steward_signer;
grant update (dispatched_at) on intent to steward_api;
grant update (dispatched_at, swept_at, recover_at) on intent to steward_worker;

alter table read_token add foreign key (intent_id) references intent;

create table funding (
  id text primary key,
  account_id text not null,
  wallet_id text not null,
  chain_id bigint not null,
  units numeric(78, 0) not null check (units > 0),
  created_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  completed_at timestamptz,
  -- When a worker claimed it to start its workflow: no other one does for a few seconds. Null: never.
  swept_at timestamptz,
  unique (id, wallet_id),
  foreign key (wallet_id, account_id) references wallet (id, account_id)
);
create index funding_open on funding (id) where completed_at is null;
create index funding_account on funding (account_id, created_at);
create index funding_wallet on funding (wallet_id, created_at);
create index funding_open_wallet on funding (wallet_id, created_at) where completed_at is null;
create index funding_undispatched on funding (account_id, swept_at nulls first, created_at) where dispatched_at is null;
alter table funding enable row level security;
create policy own_account on funding to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on funding to steward_worker, steward_signer using (true) with check (true);
grant select, insert on funding to steward_api;
grant select, update on funding to steward_worker;
grant select on funding to steward_signer;
grant update (dispatched_at) on funding to steward_api;
grant update (swept_at) on funding to steward_worker;

-- Money of a wallet that a step of an intent will spend.
create table reservation (
  intent_id text,
  sequence int,
  wallet_id text not null,
  chain_id bigint not null,
  -- What is spent. A withdrawal spends the market's receipt token, counted in units of what it stands for.
  token text not null check (token = lower(token)),
  units numeric(78, 0) not null check (units > 0),
  -- Counts from this block on. 0: the money was there when the intent was planned. Null: it has not arrived yet.
  from_block bigint default 0,
  -- Block in which the step spent it with success: from there on the balance itself shows it.
  spent_block bigint,
  -- Set when the money was not and will not be spent.
  released_at timestamptz,
  -- Sequence of the step that brings the money. units is a forecast until it has.
  fed_by int,
  -- The market that the step pays into or out of.
  market text check (market = lower(market)),
  everything boolean not null default false,
  primary key (intent_id, sequence),
  constraint reservation_check check (fed_by is not null or from_block is not distinct from 0),
  foreign key (intent_id, wallet_id) references intent (id, wallet_id)
);
create index reservation_market on reservation (wallet_id, chain_id, market)
  where market is not null and spent_block is null and released_at is null;
create index reservation_room on reservation (chain_id, market, token)
  where market is not null and spent_block is null and released_at is null;
create index reservation_spent on reservation (chain_id, spent_block) where spent_block is not null;
create index reservation_fed on reservation (chain_id, from_block) where fed_by is not null;
create index reservation_wallet on reservation (wallet_id, chain_id, spent_block, released_at);
alter table reservation enable row level security;
create policy own_account on reservation to steward_api
  using ((select true from wallet w where (w.id = reservation.wallet_id)))
  with check ((select true from wallet w where (w.id = reservation.wallet_id)));
create policy all_accounts on reservation to steward_worker, steward_lanes, steward_signer
  using (true) with check (true);
grant select, insert on reservation to steward_api;
grant select on reservation to steward_worker, steward_lanes;
grant insert (intent_id, sequence, wallet_id, chain_id, token, units, from_block, fed_by, market, everything) on
  reservation to steward_worker;
grant update (units, from_block, spent_block, released_at) on reservation to steward_lanes;
grant update (released_at) on reservation to steward_worker;

-- Every change of an intent's status that is allowed, by the event that tells it. One more is one more row.
create table intent_edge (
  event text,
  from_status text,
  to_status text not null,
  primary key (event, from_status)
);

-- Cancels an intent of which nothing was ever signed, in the caller's transaction: its operations, its
-- reservations and its charge with it. A row lock orders it against the signer, which signs under one too.
create function cancel_intent(p_account text, p_intent text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare i intent;
begin
  -- The account first, as every charge does: two orders would wait for each other.
  perform from account a where a.id = p_account for no key update;
  select * into i from intent x where x.id = p_intent and x.account_id = p_account for update;
  if not found then return 'unknown'; end if;
  if i.cancelled_at is not null then return 'cancelled'; end if;
  if i.status in ('completed', 'failed') then return 'already_over'; end if;
  perform from operation o where o.intent_id = i.id order by o.id for update;
  if exists (select from operation o where o.intent_id = i.id
    and (o.state in ('signed', 'mined', 'confirmed', 'final') or o.spent_since is not null
      or exists (select from signature s where s.operation_id = o.id)))
  then return 'already_signed'; end if;
  update operation o set state = 'cancelled', code = 'CANCELLED', message = 'The intent was cancelled.',
    taken_by = null, taken_until = null
  where o.intent_id = i.id and o.state in ('queued', 'deferred');
  update reservation r set released_at = clock_timestamp()
  where r.intent_id = i.id and r.released_at is null;
  perform move_intent(i.id, 'cancelled', json_build_object(
    'code', 'CANCELLED', 'message', 'The intent was cancelled. Nothing was sent.'));
  perform refund_call(i.request_id);
  return 'cancelled';
end $$;

-- Changes the status of an intent, along an edge or not at all, and tells it. Who executes it is its workflow.
create function move_intent(p_intent text, p_event text, p_value json default null) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_from text;
  v_to text;
  v_now timestamptz;
begin
  select x.status into v_from from intent x where x.id = p_intent for no key update;
  select e.to_status into v_to from intent_edge e where e.event = p_event and e.from_status = v_from;
  if not found then
    raise exception 'Intent % is %: "%" is refused.', p_intent, coalesce(v_from, 'unknown'), p_event;
  end if;
  v_now := clock_timestamp();
  with i as (
    update intent x set
      status = v_to,
      plan = case v_to when 'planning' then p_value else x.plan end,
      error = case v_to when 'failed' then p_value end,
      updated_at = v_now,
      dispatched_at = case p_event when 'executing' then v_now else x.dispatched_at end,
      completed_at = case v_to when 'completed' then v_now end,
      cancelled_at = case p_event when 'cancelled' then v_now end,
      ended_at = case when v_to in ('completed', 'failed') then v_now end,
      recover_at = case p_event when 'reopened' then v_now else x.recover_at end
    where x.id = p_intent returning *)
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event) from i;
end $$;

-- Writes beside the status, once each, that a running intent is late, that it is late no longer, or that the money of one
-- that failed for the bridge's sake came out. Changes nothing where that was written before or does not apply.
create function annotate_intent(p_intent text, p_event text, p_value json default null) returns void
language sql security definer set search_path = public, pg_temp as $$
  with i as (
    update intent x set
      delay = case p_event when 'delayed' then p_value end,
      error = case p_event when 'recovered' then (x.error::jsonb || p_value::jsonb)::json else x.error end,
      updated_at = clock_timestamp()
    where x.id = p_intent and case p_event
      when 'delayed' then x.status not in ('completed', 'failed') and x.delay is null
      when 'delay_over' then x.status not in ('completed', 'failed') and x.delay is not null
      when 'recovered' then x.status = 'failed' and x.error ->> 'code' = 'BRIDGE_TIMEOUT'
        and x.error -> 'recovery' is null end
    returning *)
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event) from i
$$;

-- True when every step of the plan has a confirmed success. A bridge has it when the money has come out.
create function is_done(i intent) returns boolean language sql stable as $$
  select coalesce(bool_and(exists (
    select from operation o
    where o.intent_id = i.id and o.sequence = (s.step ->> 'sequence')::int
      and o.kind = case s.step ->> 'type' when 'bridge' then 'mint' else s.step ->> 'type' end
      and o.state in ('confirmed', 'final') and o.success)), false)
  from json_array_elements(i.plan -> 'steps') as s (step)
$$;

-- True when the rows still bear the end that was told of an intent. A failure holds until something of it is
-- open again, or the step that failed has succeeded. BRIDGE_TIMEOUT was told before the step was over, and what
-- comes out later is told as its recovery: it holds as long as its money has left, and is out or in the bridge.
create function end_holds(i intent) returns boolean language sql stable as $$
  select case
    when i.status = 'completed' then is_done(i)
    when i.status <> 'failed' then true
    else (i.error ->> 'code' = 'BRIDGE_TIMEOUT' or not is_done(i)) and not exists (
      select from operation o
      where o.intent_id = i.id
        and case when i.error ->> 'code' = 'BRIDGE_TIMEOUT'
          then o.kind = 'bridge' and (o.state in ('signed', 'mined')
            or o.state in ('confirmed', 'final') and not o.success)
          else o.state in ('signed', 'mined')
            or o.state in ('confirmed', 'final') and o.success and o.sequence = (i.error ->> 'step')::int end
        -- What becomes of a burn makes no difference once its money has come out.
        and not (o.kind = 'bridge' and exists (
          select from operation m
          where m.intent_id = i.id and m.sequence = o.sequence and m.kind = 'mint'
            and m.state in ('confirmed', 'final') and m.success)))
    end
$$;

-- Locks the intents of operations that have one of the statuses, before what is told of them changes, and returns their
-- ids. Intents come before operations wherever rows are locked.
create function hold_intents(p_operations text[], p_statuses text[]) returns text[]
language sql security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg(held.id), '{}') from (
    select i.id from intent i
    where i.id in (select o.intent_id from operation o where o.id = any (p_operations)) and i.status = any (p_statuses)
    order by i.id for no key update) held
$$;

-- Reopens those of the given intents whose end does not hold: executing again, with what its open steps had
-- reserved. One that has been retried stays as it is, because its retry has the goal now. Names the reopened ones.
create function reconsider_intents(p_intents text[]) returns text[]
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_id text;
  v_reopened text[] := '{}';
begin
  for v_id in
    select i.id from intent i
    where i.id = any (p_intents) and i.status in ('completed', 'failed')
    order by i.id for no key update
  loop
    continue when exists (select from intent i where i.id = v_id and end_holds(i))
      or exists (select from intent r where r.retry_of = v_id);
    perform move_intent(v_id, 'reopened');
    update reservation r set released_at = null
    where r.intent_id = v_id and r.released_at is not null and not exists (
      select from operation o
      where o.intent_id = v_id and o.sequence = r.sequence
        and (o.state in ('rejected', 'cancelled') or o.state = 'final' and not o.success));
    v_reopened := v_reopened || v_id;
  end loop;
  return v_reopened;
end $$;

-- Completes an intent whose steps are all done, under its lock. True when it is completed, by this call or before.
create function complete_intent(p_intent text) returns boolean
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
declare i intent;
begin
  select * into i from intent x where x.id = p_intent for update;
  if not found then raise exception 'There is no intent %.', p_intent; end if;
  if i.status in ('completed', 'failed') or not is_done(i) then return i.status = 'completed'; end if;
  perform move_intent(p_intent, 'completed');
  return true;
end $$;

-- Wakes the workers, which start the workflow.
create function notify_start() returns trigger language plpgsql as $$
begin
  perform pg_notify('start', '');
  return null;
end $$;
create trigger intent_to_start after insert on intent for each statement execute function notify_start();
create trigger funding_to_start after insert on funding for each statement execute function notify_start();

grant execute on function move_intent, annotate_intent, complete_intent to steward_worker;
grant execute on function cancel_intent to steward_api;
grant execute on function hold_intents, reconsider_intents to steward_lanes;

insert into intent_edge values
  ('planned', 'pending', 'planning'),
  ('executing', 'planning', 'executing'),
  ('completed', 'executing', 'completed'),
  ('failed', 'pending', 'failed'),
  ('failed', 'planning', 'failed'),
  ('failed', 'executing', 'failed'),
  ('cancelled', 'pending', 'failed'),
  ('cancelled', 'planning', 'failed'),
  ('cancelled', 'executing', 'failed'),
  ('reopened', 'completed', 'executing'),
  ('reopened', 'failed', 'executing');
