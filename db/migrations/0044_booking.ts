/** What a block says of many operations is written by one call. */
export const booking = `
-- In their order, which is that of the events that are told of them. With the rights of who calls it.
create function set_mined(p_mined json) returns void language plpgsql as $$
declare
  m record;
  v_step record;
begin
  for m in
    select * from json_to_recordset(p_mined) as r(id text, success boolean, refusal text, "txHash" text, block bigint,
      hash text, "minedAt" timestamptz, "logIndex" int, "gasUsed" numeric, "gasCostUsd" numeric, units numeric,
      "messageSent" text)
  loop
    update operation o set state = 'mined', success = m.success, message = m.refusal, tx_hash = m."txHash",
      block_number = m.block, block_hash = m.hash, block_time = m."minedAt", log_index = m."logIndex",
      gas_used = m."gasUsed", gas_cost_usd = m."gasCostUsd", units = m.units, carry_failures = 0,
      spent_since = null, taken_by = null, taken_until = null
    where o.id = m.id
    returning o.intent_id, o.sequence, o.kind into v_step;
    continue when not found or not m.success;
    -- A mint spends nothing: what its step spent was burned on another chain.
    if v_step.kind <> 'mint' then
      update reservation r set spent_block = m.block
      where r.intent_id = v_step.intent_id and r.sequence = v_step.sequence;
    end if;
    -- What has arrived is what the next step spends. A burn has brought nothing yet.
    if v_step.kind <> 'bridge' and m.units > 0 then
      update reservation r set from_block = m.block, units = m.units
      where r.intent_id = v_step.intent_id and r.fed_by = v_step.sequence;
    end if;
    if m."messageSent" is not null then
      update burn b set sent = m."messageSent", burned_at = coalesce(b.burned_at, clock_timestamp())
      where b.operation_id = m.id;
    end if;
  end loop;
end $$;
revoke execute on function set_mined from public;
grant execute on function set_mined to steward_lanes;
`
