/** Ends that the rows do not bear any more: a reorg has turned them round, or a log came late. */
export const turned = `
alter table intent add column recover_at timestamptz;
comment on column intent.recover_at is
  'Since when its end, which was told, does not hold any more. The sweeper starts its workflow again. Null: nothing to do.';
create index intent_recover on intent (swept_at nulls first, created_at) where recover_at is not null;

alter table intent_event drop constraint intent_event_type_check;
alter table intent_event add constraint intent_event_type_check check (type in (
  'created', 'planned', 'executing', 'completed', 'failed', 'cancelled', 'reopened',
  'delayed', 'delay_over', 'recovered',
  'step_started', 'step_progressed', 'step_completed', 'step_failed', 'step_reverted'));
insert into intent_edge values
  ('reopened', 'completed', 'executing'),
  ('reopened', 'failed', 'executing');

-- p_value: the plan of 'planned', the error of 'failed' and 'cancelled'.
create or replace function move_intent(p_intent text, p_event text, p_value json default null) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  i intent;
  v_to text;
begin
  select * into i from intent x where x.id = p_intent for no key update;
  select e.to_status into v_to from intent_edge e
  where e.event = p_event and e.from_status = i.status;
  if not found then
    raise exception 'Intent % is %: "%" is refused.', p_intent, coalesce(i.status, 'unknown'), p_event;
  end if;
  update intent x set
    status = v_to,
    plan = case v_to when 'planning' then p_value else x.plan end,
    error = case v_to when 'failed' then p_value end,
    completed_at = case v_to when 'completed' then clock_timestamp() end,
    cancelled_at = case p_event when 'cancelled' then clock_timestamp() end,
    recover_at = case p_event when 'reopened' then clock_timestamp() else x.recover_at end
  where x.id = p_intent returning * into i;
  perform tell_intent(i, p_event);
end $$;

-- True when every step of the plan has a confirmed success. A bridge has it when the money has come out.
create function is_done(i intent) returns boolean language sql stable as $$
  select coalesce(bool_and(exists (
    select from operation o
    where o.intent_id = i.id and o.sequence = (s.step ->> 'sequence')::int
      and o.kind = case s.step ->> 'type' when 'bridge' then 'mint' else s.step ->> 'type' end
      and o.state in ('confirmed', 'final') and o.success)), false)
  from json_array_elements(i.plan -> 'steps') as s (step)
$$;

-- True when the money of a bridge step has come out: what becomes of its burn makes no difference any more.
create function is_minted(p_intent text, p_sequence int) returns boolean language sql stable as $$
  select exists (
    select from operation m
    where m.intent_id = p_intent and m.sequence = p_sequence and m.kind = 'mint'
      and m.state in ('confirmed', 'final') and m.success)
$$;

-- True when the rows still bear the end that was told of an intent. A failure holds until something of it is
-- open again, or the step that failed has succeeded. BRIDGE_TIMEOUT was told before the step was over, and what
-- comes out later is told as its recovery: it holds as long as its money has left, and is out or in the bridge.
create function end_holds(i intent) returns boolean language sql stable as $$
  select case
    when i.status = 'completed' then is_done(i)
    when i.status <> 'failed' then true
    when i.error ->> 'code' = 'BRIDGE_TIMEOUT' then not exists (
      select from operation o
      where o.intent_id = i.id and o.kind = 'bridge' and not is_minted(i.id, o.sequence)
        and (o.state in ('signed', 'mined') or o.state in ('confirmed', 'final') and not o.success))
    else not is_done(i) and not exists (
      select from operation o
      where o.intent_id = i.id and not (o.kind = 'bridge' and is_minted(i.id, o.sequence))
        and (o.state in ('signed', 'mined')
          or o.state in ('confirmed', 'final') and o.success and o.sequence = (i.error ->> 'step')::int))
    end
$$;

-- Locks the intents of some operations before what is told of them changes, and names them. Intents come before
-- operations wherever rows are locked.
create function hold_intents(p_operations text[]) returns text[]
language sql security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg(held.id), '{}') from (
    select i.id from intent i
    where i.id in (select o.intent_id from operation o where o.id = any (p_operations))
    order by i.id for no key update) held
$$;

-- The same, of those intents only that are over: they are few, whatever a block brings.
create function hold_ended(p_chain bigint, p_mined text[], p_block bigint) returns text[]
language sql security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg(held.id), '{}') from (
    select i.id from intent i
    where i.status in ('completed', 'failed') and i.id in (
      select o.intent_id from operation o where o.id = any (p_mined)
      union all
      select o.intent_id from operation o
      where o.chain_id = p_chain and o.state = 'mined' and o.block_number <= p_block)
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

-- Says that the workflow of a reopened intent was started again for this very reason.
create function mark_recovered(p_intent text, p_recover_at timestamptz) returns void
language sql security definer set search_path = public, pg_temp as $$
  update intent set recover_at = null, dispatched_at = clock_timestamp()
  where id = p_intent and recover_at = p_recover_at
$$;

revoke execute on function is_done, is_minted, end_holds, hold_intents, hold_ended, reconsider_intents, mark_recovered
  from public;
grant execute on function hold_intents, hold_ended, reconsider_intents to steward_lanes;
grant execute on function mark_recovered to steward_worker;
`
