-- Status transitions of intents.

-- The allowed status transitions, by event.
create table intent_edge (
  event text,
  from_status text,
  to_status text not null,
  primary key (event, from_status)
);

-- Locks an intent and its operations, and returns whether it can be cancelled: 'cancellable', 'cancelled' before,
-- 'already_over', 'already_signed' or 'unknown'. The row locks order it against the signer, which signs under the same
-- locks.
create function cancel_verdict(p_account text, p_intent text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare i intent;
begin
  -- The account is locked first, as by every charge. The other order could deadlock.
  perform from account a where a.id = p_account for no key update;
  select * into i from intent x where x.id = p_intent and x.account_id = p_account for update;
  if not found then return 'unknown'; end if;
  if i.cancelled_at is not null then return 'cancelled'; end if;
  if i.status in ('completed', 'failed') then return 'already_over'; end if;
  perform from operation o where o.intent_id = i.id order by o.id for update;
  if not is_cancellable(i) then return 'already_signed'; end if;
  return 'cancellable';
end $$;

-- True when a running intent can be cancelled: each of its operations is unsigned or has succeeded, and no money is in
-- the bridge. It runs as its owner, because the API cannot read signatures.
create function is_cancellable(i intent) returns boolean
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return not is_done(i) and not exists (select from operation o where o.intent_id = i.id and case
    when o.state in ('confirmed', 'final') then not o.success or o.kind = 'bridge' and not exists (
      select from operation m where m.intent_id = i.id and m.sequence = o.sequence and m.kind = 'mint'
        and m.state in ('confirmed', 'final') and m.success)
    else o.state in ('signed', 'mined') or o.kind = 'mint' or o.spent_since is not null
      or exists (select from signature s where s.operation_id = o.id) end);
end $$;

-- Cancels an intent, if it can be, with its unsigned operations and their reservations, in the caller's transaction.
-- p_funds: where the money is after the steps that have succeeded. The charge is refunded when there are none.
create function cancel_intent(p_account text, p_intent text, p_funds json default null) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_verdict text := cancel_verdict(p_account, p_intent);
  v_begun boolean := exists (
    select from operation o where o.intent_id = p_intent and o.state in ('confirmed', 'final'));
begin
  if v_verdict <> 'cancellable' then return v_verdict; end if;
  update operation o set state = 'cancelled', code = 'CANCELLED', message = 'The intent was cancelled.',
    lease_owner = null, leased_until = null
  where o.intent_id = p_intent and o.state in ('queued', 'deferred');
  update reservation r set released_at = clock_timestamp()
  where r.intent_id = p_intent and r.released_at is null and not exists (
    select from operation o where o.intent_id = p_intent and o.sequence = r.sequence
      and o.state in ('confirmed', 'final'));
  perform transition_intent(p_intent, 'cancelled', json_strip_nulls(json_build_object('code', 'CANCELLED',
    'message', case when v_begun
      then 'The intent was cancelled. Its completed steps stand, and no other step was sent.'
      else 'The intent was cancelled. Nothing was sent.' end, 'funds', p_funds)));
  if not v_begun then
    perform refund_call(x.request_id) from intent x where x.id = p_intent;
  end if;
  return 'cancelled';
end $$;

-- Changes the status of an intent along an allowed transition and emits the event. Raises when none fits.
create function transition_intent(p_intent text, p_event text, p_value json default null) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_from text;
  v_to text;
  v_now timestamptz;
  v_gas numeric;
  v_cost numeric;
begin
  select x.status, x.gas_usd into v_from, v_gas from intent x where x.id = p_intent for no key update;
  select e.to_status into v_to from intent_edge e where e.event = p_event and e.from_status = v_from;
  if not found then
    raise exception 'Intent % is %: "%" is refused.', p_intent, coalesce(v_from, 'unknown'), p_event;
  end if;
  v_now := clock_timestamp();
  select coalesce(sum(o.gas_cost_usd), 0) into v_cost from operation o
  where v_to in ('completed', 'failed') and o.intent_id = p_intent;
  with i as (
    update intent x set
      status = v_to,
      gas_usd = case
        when v_to = 'planning' then coalesce((p_value ->> 'estimatedGasUsd')::numeric, 0)
        -- The money of a late bridge is still minted.
        when v_to = 'failed' and p_value ->> 'code' <> 'BRIDGE_TIMEOUT' then v_cost
        else greatest(x.gas_usd, v_cost) end,
      plan = case v_to when 'planning' then p_value else x.plan end,
      error = case v_to when 'failed' then p_value end,
      updated_at = v_now,
      dispatched_at = case p_event when 'executing' then v_now else x.dispatched_at end,
      completed_at = case v_to when 'completed' then v_now end,
      -- Kept when a reorg reopens it: a cancelled intent sends no further step.
      cancelled_at = case p_event when 'cancelled' then v_now when 'completed' then null else x.cancelled_at end,
      ended_at = case when v_to in ('completed', 'failed') then v_now end,
      recover_at = case p_event when 'reopened' then v_now else x.recover_at end
    where x.id = p_intent returning *),
  gas as (
    update account_gas g set usd = greatest(g.usd + i.gas_usd - v_gas, 0) from i
    where i.gas_usd <> v_gas and g.account_id = i.account_id and g.day = utc_day(i.created_at))
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event) from i;
end $$;

-- The transitions that need no evidence in rows, for the worker. complete_intent completes, cancel_intent cancels, and
-- reconsider_intents reopens.
create function advance_intent(p_intent text, p_event text, p_value json default null) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_event not in ('planned', 'executing', 'failed') then
    raise exception 'The worker may not set "%".', p_event using errcode = 'insufficient_privilege';
  end if;
  perform transition_intent(p_intent, p_event, p_value);
end $$;

-- Annotates an intent without a status change: a running intent is late, it is on time again, or money of an intent
-- that failed with BRIDGE_TIMEOUT has arrived. No-op when already written or not applicable.
create function annotate_intent(p_intent text, p_event text, p_value json default null) returns void
language sql security definer set search_path = public, pg_temp as $$
  with i as (
    update intent x set
      delay = case p_event when 'delayed' then p_value end,
      error = case p_event when 'recovered' then (x.error::jsonb || p_value::jsonb)::json else x.error end,
      updated_at = clock_timestamp()
    where x.id = p_intent and case p_event
      when 'delayed' then x.status not in ('completed', 'failed')
        and x.delay ->> 'message' is distinct from p_value ->> 'message'
      when 'delay_over' then x.status not in ('completed', 'failed') and x.delay is not null
      when 'recovered' then x.status = 'failed' and x.error ->> 'code' = 'BRIDGE_TIMEOUT'
        and x.error -> 'recovery' is null end
    returning *)
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event) from i
$$;

-- True when every step of the plan has a confirmed success. A bridge step succeeds with its mint.
create function is_done(i intent) returns boolean language sql stable as $$
  select coalesce(bool_and(exists (
    select from operation o
    where o.intent_id = i.id and o.sequence = (s.step ->> 'sequence')::int
      and o.kind = case s.step ->> 'type' when 'bridge' then 'mint' else s.step ->> 'type' end
      and o.state in ('confirmed', 'final') and o.success)), false)
  from json_array_elements(i.plan -> 'steps') as s (step)
$$;

-- True when the operations still support the reported end of an intent. A failure is invalidated when one of its
-- operations is open again, or when the failed step has succeeded. BRIDGE_TIMEOUT is reported before the step has
-- ended, and a later arrival is its recovery: it stands while the burn stands.
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
        -- The state of a burn is irrelevant once its money has arrived.
        and not (o.kind = 'bridge' and exists (
          select from operation m
          where m.intent_id = i.id and m.sequence = o.sequence and m.kind = 'mint'
            and m.state in ('confirmed', 'final') and m.success)))
    end
$$;

-- Locks the intents of the given operations that have one of the statuses, and returns their ids. Rows of intents
-- are always locked before rows of operations.
create function lock_intents(p_operations text[], p_statuses text[]) returns text[]
language sql security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg(held.id), '{}') from (
    select i.id from intent i
    where i.id in (select o.intent_id from operation o where o.id = any (p_operations)) and i.status = any (p_statuses)
    order by i.id for no key update) held
$$;

-- Reopens the given intents whose reported end is invalid: they execute again, with the reservations of their open
-- steps. A retried intent stays closed, because its retry pursues the goal. A cancelled one keeps its money free. Returns
-- the reopened ids.
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
    perform transition_intent(v_id, 'reopened');
    update reservation r set released_at = null
    where r.intent_id = v_id and r.released_at is not null
      and not exists (select from intent i where i.id = v_id and i.cancelled_at is not null)
      and not exists (
      select from operation o
      where o.intent_id = v_id and o.sequence = r.sequence
        and (o.state in ('rejected', 'cancelled') or o.state = 'final' and not o.success));
    v_reopened := v_reopened || v_id;
  end loop;
  return v_reopened;
end $$;

-- Completes an intent whose steps have all succeeded, under its lock. True when it is completed, now or before.
create function complete_intent(p_intent text) returns boolean
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
declare i intent;
begin
  select * into i from intent x where x.id = p_intent for update;
  if not found then raise exception 'There is no intent %.', p_intent; end if;
  if i.status in ('completed', 'failed') or not is_done(i) then return i.status = 'completed'; end if;
  perform transition_intent(p_intent, 'completed');
  return true;
end $$;

grant execute on function advance_intent, annotate_intent, complete_intent to steward_worker;
grant execute on function cancel_verdict, is_cancellable, cancel_intent to steward_api;
grant execute on function lock_intents, reconsider_intents to steward_relayer;

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
