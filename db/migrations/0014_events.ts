/** One place changes an intent's status, and the story of each intent as it is told. */
export const events = `
create table intent_event (
  id bigint generated always as identity primary key,
  intent_id text not null,
  account_id text not null,
  type text not null check (type in (
    'created', 'planned', 'executing', 'completed', 'failed', 'cancelled',
    'delayed', 'delay_over', 'recovered',
    'step_started', 'step_progressed', 'step_completed', 'step_failed', 'step_reverted')),
  data json not null,
  at timestamptz not null default clock_timestamp(),
  xact xid8 not null default pg_current_xact_id()
);
create index intent_event_account on intent_event (account_id, xact, id);
create index intent_event_intent on intent_event (intent_id, xact, id);
-- No foreign keys: their checks lock the intent and the account, and whoever books an operation must not wait
-- for those who hold them and wait for the operation.
comment on table intent_event is
  'What has happened to intents and their steps. Append-only, written in the transaction that did it.';
comment on column intent_event.xact is
  'The transaction that wrote it. Readers go by (xact, id) up to the oldest transaction that still runs: by id alone they would pass by an event that was numbered before theirs and committed after. A server that was filled from a dump counts transactions anew: set it to 3 in all rows of the dump.';

alter table intent_event enable row level security;
create policy own_account on intent_event to steward_api using (account_id = current_account());
grant select on intent_event to steward_api;

create table intent_edge (
  event text not null,
  from_status text not null,
  to_status text not null,
  primary key (event, from_status)
);
comment on table intent_edge is
  'Every change of an intent''s status that is allowed, by the event that tells it. One more is one more row.';
insert into intent_edge values
  ('planned', 'pending', 'planning'),
  ('executing', 'planning', 'executing'),
  ('completed', 'executing', 'completed'),
  ('failed', 'pending', 'failed'),
  ('failed', 'planning', 'failed'),
  ('failed', 'executing', 'failed'),
  ('cancelled', 'pending', 'failed'),
  ('cancelled', 'planning', 'failed'),
  ('cancelled', 'executing', 'failed');

-- Writes an event of an intent from its row as it is now.
create function tell_intent(i intent, p_event text) returns void language sql as $$
  insert into intent_event (intent_id, account_id, type, data) values (i.id, i.account_id, p_event, case
    when p_event = 'created' then json_build_object('status', i.status, 'walletId', i.wallet_id,
      'action', i.action, 'asset', i.asset, 'units', i.units::text)
    when p_event = 'planned' then json_build_object('status', i.status,
      'steps', json_array_length(i.plan -> 'steps'))
    when p_event = 'delayed' then json_build_object('status', i.status, 'delay', i.delay)
    when i.status = 'failed' then json_build_object('status', i.status, 'error', i.error)
    else json_build_object('status', i.status) end)
$$;

-- Changes the status of an intent, along an edge or not at all, and tells it.
-- Security definer, like all that follows: no role may write these columns or an event by itself.
-- p_value: the plan of 'planned', the error of 'failed' and 'cancelled'.
create function move_intent(p_intent text, p_event text, p_value json default null) returns void
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
    cancelled_at = case p_event when 'cancelled' then clock_timestamp() end
  where x.id = p_intent returning * into i;
  perform tell_intent(i, p_event);
end $$;

-- Says why a running intent is late, once: what was told first stays. Null: it is late no longer.
create function delay_intent(p_intent text, p_delay json) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare i intent;
begin
  update intent x set delay = p_delay
  where x.id = p_intent and x.status not in ('completed', 'failed')
    and (x.delay is null) <> (p_delay is null)
  returning * into i;
  if not found then return; end if;
  perform tell_intent(i, case when p_delay is null then 'delay_over' else 'delayed' end);
end $$;

-- Adds to the error of an intent that failed for the bridge's sake, once, that the money came out.
create function recover_intent(p_intent text, p_recovered json) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare i intent;
begin
  update intent x set delay = null, error = (x.error::jsonb || p_recovered::jsonb)::json
  where x.id = p_intent and x.status = 'failed'
    and x.error ->> 'code' = 'BRIDGE_TIMEOUT' and x.error -> 'recovery' is null
  returning * into i;
  if found then perform tell_intent(i, 'recovered'); end if;
end $$;

create function tell_creation() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform tell_intent(new, 'created');
  if new.status = 'planning' then perform tell_intent(new, 'planned'); end if;
  return null;
end $$;
create trigger intent_created after insert on intent
  for each row execute function tell_creation();
create policy as_new on intent as restrictive for insert to steward_api
  with check (status in ('pending', 'planning') and cancelled_at is null);

-- A step starts with its first operation and is over with its last one: a bridge burns, then mints.
-- What was told of a confirmed one is taken back when its block vanishes.
create function tell_step() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_is_over boolean := new.state in ('rejected', 'cancelled');
begin
  insert into intent_event (intent_id, account_id, type, data) values (new.intent_id, new.account_id,
    case
      when tg_op = 'INSERT' then 'step_started'
      when v_is_over or (new.state = 'confirmed' and not new.success) then 'step_failed'
      when new.state <> 'confirmed' then 'step_reverted'
      when new.kind = 'bridge' then 'step_progressed'
      else 'step_completed' end,
    json_strip_nulls(json_build_object('step', new.sequence, 'kind', new.kind,
      'chain', (select c.name from chain c where c.id = new.chain_id), 'txHash', new.tx_hash,
      'code', case when v_is_over then new.code end)));
  return null;
end $$;
create trigger step_started after insert on operation for each row
  when (new.kind not in ('mint', 'fund')) execute function tell_step();
-- An operation that ends with its intent, because the caller cancelled it, has not failed.
create trigger step_changed after update of state on operation for each row
  when (new.kind <> 'fund' and new.state <> old.state
    and (new.state in ('confirmed', 'rejected')
      or (new.state = 'cancelled' and new.code is distinct from 'CANCELLED')
      or (old.state = 'confirmed' and new.state <> 'final')))
  execute function tell_step();

-- Cancels an intent of which nothing was ever signed, in the caller's transaction: its operations, its
-- reservations and its charge with it. A row lock orders it against the signer, which signs under one too.
create or replace function cancel_intent(p_account text, p_intent text) returns text
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
    and (o.payload is not null or o.state in ('signed', 'mined', 'confirmed', 'final')))
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

revoke execute on function tell_intent, move_intent, delay_intent, recover_intent, tell_creation,
  tell_step from public;
grant execute on function move_intent, delay_intent, recover_intent to steward_worker;
-- Row locks need an update right on one column.
revoke update on intent from steward_worker;
grant update (dispatched_at) on intent to steward_worker;
`
