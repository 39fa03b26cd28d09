/** An order and an end of an intent are one call each. */
export const ordering = `
-- Hands an operation to the lanes, under its intent's lock. o is its row as it is, or a new one; null when there is
-- none, because the intent is over or its plan has no such step. A mint is stored whatever has become of its intent.
-- With the rights of who calls it.
create function order_operation(p_id text, p_intent text, p_sequence int, p_kind text, p_account text,
  p_wallet text, p_chain bigint, p_key text, p_input json, out is_new boolean, out o operation)
language plpgsql as $$
declare
  v_status text;
  v_plan json;
begin
  if p_kind <> 'fund' then
    select i.status, i.plan into v_status, v_plan from intent i where i.id = p_intent for update;
    if not found then raise exception 'There is no intent %.', p_intent; end if;
  end if;
  select * into o from operation x where x.id = p_id;
  is_new := not found;
  if not is_new then return; end if;
  -- The plan in the row counts: what a workflow takes for it may have been given to it by hand.
  if p_kind not in ('mint', 'fund') and (v_status in ('completed', 'failed') or not exists (
    select from json_array_elements(v_plan -> 'steps') as s (step)
    where (s.step ->> 'sequence')::int = p_sequence and s.step ->> 'type' = p_kind))
  then
    is_new := false;
    return;
  end if;
  if v_status = 'planning' then perform move_intent(p_intent, 'executing'); end if;
  insert into operation (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, input, min_block)
  values (p_id, p_intent, p_sequence, p_kind, p_account, p_wallet, p_chain, p_key, p_input,
    coalesce((select c.booked_block from chain c where c.id = p_chain), 0))
  returning * into o;
end $$;

-- Completes an intent whose steps are all done, under its lock. True when it is completed, by this call or before.
create function complete_intent(p_intent text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare i intent;
begin
  select * into i from intent x where x.id = p_intent for update;
  if not found then raise exception 'There is no intent %.', p_intent; end if;
  if i.status in ('completed', 'failed') or not is_done(i) then return i.status = 'completed'; end if;
  perform move_intent(p_intent, 'completed');
  return true;
end $$;
revoke execute on function order_operation, complete_intent from public;
grant execute on function order_operation, complete_intent to steward_worker;
`
