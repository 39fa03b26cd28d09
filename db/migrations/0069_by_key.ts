/** What a block brings is found by key, however much is stored: planners reckon with too much of it, and read all. */
export const byKey = `
-- Of what is watched hardly anything is not confirmed yet.
create index operation_mined on operation (chain_id, block_number) where state = 'mined';

-- Holds those intents that are over of operations that are in a block, or confirmed with it.
create or replace function hold_ended(p_chain bigint, p_mined text[], p_block bigint) returns text[]
language sql security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg(held.id), '{}') from (
    select o.intent_id as id from unnest(p_mined) as m (id)
      cross join lateral (select x.intent_id from operation x where x.id = m.id offset 0) o
    union
    select o.intent_id from operation o
    where o.chain_id = p_chain and o.state = 'mined' and o.block_number <= p_block
    order by 1) asked
  cross join lateral (
    select i.id from intent i where i.id = asked.id and i.status in ('completed', 'failed') for no key update) held
$$;

-- Writes the outcomes of a block. With the rights of who calls it.
create or replace function set_mined(p_mined json, p_confirmed bigint default null) returns void language plpgsql as $$
declare v_done record;
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
  for v_done in
    select done.* from json_to_recordset(p_mined) as m (id text)
    cross join lateral (
      select x.kind, x.intent_id, x.sequence, x.block_number, x.units from operation x
      where x.id = m.id and x.success offset 0) done
  loop
    -- A mint spends nothing: what its step spent was burned on another chain.
    if v_done.kind <> 'mint' then
      update reservation r set spent_block = v_done.block_number
      where r.intent_id = v_done.intent_id and r.sequence = v_done.sequence;
    end if;
    -- What has arrived is what the next step spends. A burn has brought nothing yet.
    if v_done.kind <> 'bridge' and v_done.units > 0 then
      update reservation r set from_block = v_done.block_number, units = v_done.units
      where r.intent_id = v_done.intent_id and r.fed_by = v_done.sequence;
    end if;
  end loop;
  update burn b set sent = m."messageSent", burned_at = coalesce(b.burned_at, clock_timestamp())
  from json_to_recordset(p_mined) as m (id text, success boolean, "messageSent" text)
  where m.success and m."messageSent" is not null and b.operation_id = m.id;
end $$;
`
