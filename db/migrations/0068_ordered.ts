/** An intent whose first step is ordered is noted as started by that: one write of its row less. */
export const ordered = `
-- Changes the status of an intent, along an edge or not at all, and tells it. Who executes it is its workflow.
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
      dispatched_at = case p_event when 'executing' then clock_timestamp() else x.dispatched_at end,
      completed_at = case v_to when 'completed' then clock_timestamp() end,
      cancelled_at = case p_event when 'cancelled' then clock_timestamp() end,
      recover_at = case p_event when 'reopened' then clock_timestamp() else x.recover_at end
    where x.id = p_intent returning *)
  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select i.id, i.account_id, i.wallet_id, p_event, event_data(i, p_event) from i;
end $$;

-- What was noted a moment ago, such as by its first order, stays as it is. Those that another transaction holds are
-- left out: whoever waits with some rows in hand may wait for one who waits for these. A crash may lose the last
-- moment's marks: those workflows are started once more, and found.
create or replace function mark_all_dispatched(p_ids text[]) returns setof text
language sql security definer set search_path = public, pg_temp as $$
  select set_config('synchronous_commit', 'off', true);
  with asked as (
      select i.id, coalesce(i.dispatched_at > clock_timestamp() - interval '10 seconds', false) as is_noted
      from intent i where i.id = any (p_ids)),
    free_intent as (
      select i.id from intent i where i.id = any (array(select a.id from asked a where not a.is_noted))
      for no key update skip locked),
    free_funding as (select f.id from funding f where f.id = any (p_ids) for no key update skip locked),
    intents as (update intent i set dispatched_at = clock_timestamp() from free_intent f where i.id = f.id
      returning i.id),
    fundings as (update funding x set dispatched_at = clock_timestamp() from free_funding f where x.id = f.id
      returning x.id)
  select id from intents union all select id from fundings union all select id from asked where is_noted
$$;
`
