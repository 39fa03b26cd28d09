/** What happens to many rows together is told, booked and looked up by few statements. */

const events = `
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
create or replace function tell_intent(i intent, p_event text) returns void language sql as $$
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  values (i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event))
$$;
create or replace function tell_creation() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select new.id, new.account_id, new.wallet_id, told.type, event_data(new, told.type)
  from unnest(case new.status when 'planning' then '{created,planned}' else '{created}' end::text[]) as told (type);
  return null;
end $$;

-- Whose wallet it is, where the one who tells has not said so.
drop trigger intent_event_place on intent_event;
create trigger intent_event_place before insert on intent_event
  for each row when (new.wallet_id is null and new.intent_id is not null) execute function place_event();

create or replace function tell_step() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  values (new.intent_id, new.account_id, new.wallet_id, 'step_started', json_strip_nulls(json_build_object(
    'step', new.sequence, 'kind', new.kind, 'chain', (select c.name from chain c where c.id = new.chain_id),
    'txHash', new.tx_hash)));
  return null;
end $$;
`

const changes = `
-- A step is over with its last operation: a bridge burns, then mints. What was told of a confirmed one is taken back
-- when its block vanishes. An operation that ends with its intent, because the caller cancelled it, has not failed.
create function is_step_news(p_kind text, p_was text, p_state text, p_code text) returns boolean
language sql immutable as $$
  select p_kind <> 'fund' and p_state <> p_was and (p_state in ('confirmed', 'rejected')
    or p_state = 'cancelled' and p_code is distinct from 'CANCELLED'
    or p_was = 'confirmed' and p_state <> 'final')
$$;
create function is_lent_news(p_kind text, p_resource text, p_was text, p_state text) returns boolean
language sql immutable as $$
  select (p_was = 'final') <> (p_state = 'final') and p_kind in ('deposit', 'withdraw') and p_resource is not null
$$;

-- What is told when rows of operations have changed, once for all rows of a statement: to those who wait for them, to
-- readers of their intents, and to the sums of what accounts have lent. Definer: no role writes these by itself.
create function follow_operations() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  g record;
  v_steps boolean := false;
  v_lent boolean := false;
begin
  -- A payload holds 8,000 bytes. What is carried again was signed before: its transaction is new.
  for g in
    select c.state, c.chain_id, array_agg(c.id) as ids, bool_or(c.is_step_news) as steps,
      bool_or(c.is_lent_news) as lent
    from (
      select n.id, n.state, n.chain_id, row_number() over (partition by n.state, n.chain_id) / 90 as part,
        is_step_news(n.kind, o.state, n.state, n.code), is_lent_news(n.kind, n.resource, o.state, n.state)
      from changed n join former o using (id)
      where (n.state, n.tx_id, n.block_hash) is distinct from (o.state, o.tx_id, o.block_hash)) c
    group by c.state, c.chain_id, c.part
  loop
    perform pg_notify('operation',
      json_build_object('ids', g.ids, 'state', g.state, 'chainId', g.chain_id)::text);
    v_steps := v_steps or g.steps;
    v_lent := v_lent or g.lent;
  end loop;
  -- In the order of the chain.
  if v_steps then
    insert into intent_event (intent_id, account_id, wallet_id, type, data)
    select n.intent_id, n.account_id, n.wallet_id,
      case
        when n.state in ('rejected', 'cancelled') or n.state = 'confirmed' and not n.success then 'step_failed'
        when n.state <> 'confirmed' then 'step_reverted'
        when n.kind = 'bridge' then 'step_progressed'
        else 'step_completed' end,
      json_strip_nulls(json_build_object('step', n.sequence, 'kind', n.kind, 'chain', c.name,
        'txHash', n.tx_hash, 'code', case when n.state in ('rejected', 'cancelled') then n.code end))
    from changed n join former o using (id) left join chain c on c.id = n.chain_id
    where is_step_news(n.kind, o.state, n.state, n.code)
    order by n.block_number, n.log_index, n.intent_id, n.sequence;
  end if;
  -- Whoever writes several does so in one order.
  if v_lent then
    insert into account_lent as l (account_id, chain_id, resource, units)
    select n.account_id, n.chain_id, n.resource, sum(
      case when n.state = 'final' and n.success then coalesce(n.units, 0) else 0 end
        - case when o.state = 'final' and o.success then coalesce(o.units, 0) else 0 end) as units
    from changed n join former o using (id)
    where is_lent_news(n.kind, n.resource, o.state, n.state)
    group by n.account_id, n.chain_id, n.resource
    order by n.account_id, n.chain_id, n.resource
    on conflict (account_id, chain_id, resource) do update set units = l.units + excluded.units;
  end if;
  return null;
end $$;
revoke execute on function event_data, is_step_news, is_lent_news, follow_operations from public;
drop trigger operation_changed on operation;
drop trigger step_changed on operation;
drop trigger operation_lent_changed on operation;
create trigger operation_changed after insert on operation
  for each row execute function notify_operation();
create trigger operation_followed after update on operation
  referencing old table as former new table as changed
  for each statement execute function follow_operations();
`

const booking = `
-- For all at once. With the rights of who calls it.
create or replace function set_mined(p_mined json) returns void language plpgsql as $$
begin
  update operation o set state = 'mined', success = m.success, message = m.refusal, tx_hash = m."txHash",
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
`

const keys = `
-- Of the account of a wallet, which is bound by the wallet's own key.
alter table intent drop constraint intent_account_id_fkey;
alter table funding drop constraint funding_account_id_fkey;
`

const starts = `
-- Those that another transaction holds are left out: whoever waits with some rows in hand may wait for one who waits
-- for these. A crash may lose the last moment's marks: those workflows are started once more, and found.
create or replace function mark_all_dispatched(p_ids text[]) returns setof text
language sql security definer set search_path = public, pg_temp as $$
  select set_config('synchronous_commit', 'off', true);
  with free_intent as (select i.id from intent i where i.id = any (p_ids) for no key update skip locked),
    free_funding as (select f.id from funding f where f.id = any (p_ids) for no key update skip locked),
    intents as (update intent i set dispatched_at = clock_timestamp() from free_intent f where i.id = f.id
      returning i.id),
    fundings as (update funding x set dispatched_at = clock_timestamp() from free_funding f where x.id = f.id
      returning x.id)
  select id from intents union all select id from fundings
$$;
`

export const together = `${events}${changes}${booking}${keys}${starts}`
