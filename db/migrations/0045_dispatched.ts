/** Starts of workflows are noted together. */
export const dispatched = `
-- Those that another transaction holds are left out: whoever waits with some rows in hand may wait for one who waits
-- for these.
create function mark_all_dispatched(p_ids text[]) returns setof text
language sql security definer set search_path = public, pg_temp as $$
  with free_intent as (select i.id from intent i where i.id = any (p_ids) for no key update skip locked),
    free_funding as (select f.id from funding f where f.id = any (p_ids) for no key update skip locked),
    intents as (update intent i set dispatched_at = clock_timestamp() from free_intent f where i.id = f.id
      returning i.id),
    fundings as (update funding x set dispatched_at = clock_timestamp() from free_funding f where x.id = f.id
      returning x.id)
  select id from intents union all select id from fundings
$$;
revoke execute on function mark_all_dispatched from public;
grant execute on function mark_all_dispatched to steward_api, steward_worker;
`
