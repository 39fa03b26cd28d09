/** What every lend writes costs less: shorter conditions, fewer versions of a row, fewer statements in a function. */

const conditions = `
-- Each statement that writes reads the conditions of its table anew from text. A list that is one value is a third as
-- long as the same list of values.
alter table intent
  drop constraint intent_action_check, drop constraint intent_status_check, drop constraint intent_check,
  add constraint intent_action_check check (action = any ('{lend,withdraw,bridge}'::text[])),
  add constraint intent_status_check
    check (status = any ('{pending,planning,executing,completed,failed}'::text[])),
  add constraint intent_check check (status = any ('{pending,failed}'::text[]) or plan is not null);
alter table operation
  drop constraint operation_kind_check, drop constraint operation_state_check, drop constraint operation_check,
  add constraint operation_kind_check check (kind = any ('{bridge,mint,swap,deposit,withdraw,fund}'::text[])),
  add constraint operation_state_check
    check (state = any ('{queued,deferred,signed,mined,confirmed,final,rejected,cancelled}'::text[])),
  add constraint operation_check
    check ((state = any ('{mined,confirmed,final}'::text[])) = (block_hash is not null));
alter table chain_tx
  drop constraint chain_tx_state_check, drop constraint chain_tx_check,
  add constraint chain_tx_state_check check (state = any ('{open,mined,final,lost}'::text[])),
  add constraint chain_tx_check check ((state = any ('{mined,final}'::text[])) = (block_hash is not null));
alter table intent_event drop constraint intent_event_type_check;
alter table intent_event add constraint intent_event_type_check check (type = any (
  '{created,planned,executing,completed,failed,cancelled,reopened,delayed,delay_over,recovered,
    step_started,step_progressed,step_completed,step_failed,step_reverted,
    wallet.created,wallet.funded,credits.low,credits.exhausted,webhook.test,webhook.disabled}'::text[]));
-- Few intents are retries: the others need no entry for each version of their rows.
alter table intent drop constraint intent_retry_of_key;
create unique index intent_retry_of_key on intent (retry_of) where retry_of is not null;
`

const booking = `
-- What one block confirms is confirmed as it is booked. With the rights of who calls it.
drop function set_mined(json);
create function set_mined(p_mined json, p_confirmed bigint default null) returns void language plpgsql as $$
begin
  update operation o set state = case when m.block <= p_confirmed then 'confirmed' else 'mined' end,
    success = m.success, message = m.refusal, tx_hash = m."txHash",
    block_number = m.block, block_hash = m.hash, block_time = m."minedAt", log_index = m."logIndex",
    gas_used = m."gasUsed", gas_cost_usd = m."gasCostUsd", units = m.units, carry_failures = 0,
    spent_since = null, taken_by = null, taken_until = null
  from (
    -- Of one operation what comes last.
    select distinct on (r.id) r.* from rows from (json_to_recordset(p_mined) as (id text, success boolean,
      refusal text, "txHash" text, block bigint, hash text, "minedAt" timestamptz, "logIndex" int,
      "gasUsed" numeric, "gasCostUsd" numeric, units numeric)) with ordinality as r
    order by r.id, r.ordinality desc) m
  where o.id = m.id;
  -- A mint spends nothing: what its step spent was burned on another chain.
  update reservation r set spent_block = o.block_number
  from json_to_recordset(p_mined) as m (id text) join operation o using (id)
  where o.success and o.kind <> 'mint' and r.intent_id = o.intent_id and r.sequence = o.sequence;
  -- What has arrived is what the next step spends. A burn has brought nothing yet.
  update reservation r set from_block = o.block_number, units = o.units
  from json_to_recordset(p_mined) as m (id text) join operation o using (id)
  where o.success and o.kind <> 'bridge' and o.units > 0
    and r.intent_id = o.intent_id and r.fed_by = o.sequence;
  update burn b set sent = m."messageSent", burned_at = coalesce(b.burned_at, clock_timestamp())
  from json_to_recordset(p_mined) as m (id text, success boolean, "messageSent" text)
  where m.success and m."messageSent" is not null and b.operation_id = m.id;
end $$;
revoke execute on function set_mined from public;
grant execute on function set_mined to steward_lanes;

create or replace function note_operation_times() returns trigger language plpgsql as $$
declare v_now timestamptz := clock_timestamp();
begin
  if new.state = 'final' and tg_op = 'UPDATE' then return new; end if;
  -- What is deferred is queued again and again: a reader hears of it when it waits for something else.
  if tg_op = 'UPDATE' and not (old.state in ('queued', 'deferred') and new.state in ('queued', 'deferred')) then
    new.changed_at := v_now;
  end if;
  if new.state in ('queued', 'deferred') then
    new.signed_at := null;
  elsif new.state = 'signed' then
    new.signed_at := coalesce(new.signed_at, v_now);
  end if;
  if new.state in ('queued', 'deferred', 'signed') then
    new.mined_at := null;
    new.block_time := null;
  elsif new.state = 'mined' or new.state = 'confirmed' and tg_op = 'UPDATE' and old.state <> 'mined' then
    new.mined_at := v_now;
  end if;
  new.ended_at := case when new.state in ('confirmed', 'final', 'rejected', 'cancelled') then v_now end;
  return new;
end $$;
`

const ends = `
-- Changes the status of an intent, along an edge or not at all, and tells it.
create or replace function move_intent(p_intent text, p_event text, p_value json default null) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_from text;
  v_to text;
begin
  select x.status into v_from from intent x where x.id = p_intent for no key update;
  select e.to_status into v_to from intent_edge e where e.event = p_event and e.from_status = v_from;
  if not found then
    raise exception 'Intent % is %: "%" is refused.', p_intent, coalesce(v_from, 'unknown'), p_event;
  end if;
  with i as (
    update intent x set
      status = v_to,
      plan = case v_to when 'planning' then p_value else x.plan end,
      error = case v_to when 'failed' then p_value end,
      completed_at = case v_to when 'completed' then clock_timestamp() end,
      cancelled_at = case p_event when 'cancelled' then clock_timestamp() end,
      recover_at = case p_event when 'reopened' then clock_timestamp() else x.recover_at end
    where x.id = p_intent returning *)
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event) from i;
end $$;

-- Their rows are found by keys, whatever these are: a session plans for that once, and not anew for its first calls.
alter function order_operation set plan_cache_mode = force_generic_plan;
alter function complete_intent set plan_cache_mode = force_generic_plan;
`

export const lighter = `${conditions}${booking}${ends}`
