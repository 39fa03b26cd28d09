/** Transactions of other databases on the same server hold no news back: an event waits for those of its own. */
export const told = `
-- The transaction before which every event has been committed or never will be: the oldest of this database that runs.
-- Of one that has just ended nobody can tell whose it was, so that it counts as ours; so do all that the owner of this
-- function may not see (role pg_read_all_stats). Definer, to see more than its caller may.
create function told_before() returns xid8
language sql stable security definer set search_path = public, pg_temp as $$
  with now as materialized (select pg_current_snapshot() as snapshot),
  foreigner as materialized (
    select a.backend_xid as xact from pg_stat_activity a
    where a.backend_xid is not null and a.datname <> current_database())
  select coalesce(
    (select min(x.xact) from pg_snapshot_xip(now.snapshot) as x (xact)
     where x.xact::xid not in (select f.xact from foreigner f)),
    pg_snapshot_xmax(now.snapshot))
  from now
$$;
revoke execute on function told_before from public;
grant execute on function told_before to steward_api, steward_worker;

-- Turns what has been told since the last time into deliveries, in the order in which it is told. One caller at
-- a time. Definer, so that nobody can make a delivery of what has not happened.
-- is_full: there is more. is_held: there is more that an older transaction still holds back.
create or replace function dispatch_webhooks(p_limit int)
returns table (made int, is_full boolean, is_held boolean)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  d webhook_dispatch;
  v_horizon xid8;
  v_told int := 0;
begin
  select * into d from webhook_dispatch for update;
  v_horizon := told_before();
  made := 0;
  if exists (select from webhook w where w.status = 'enabled' and w.deleted_at is null) then
    with told as materialized (
      select e.id, e.xact, e.account_id, e.type, e.at from intent_event e
      where (e.xact, e.id) > (d.xact, d.id) and e.xact < v_horizon
      order by e.xact, e.id limit p_limit
    ), deliveries as (
      insert into webhook_delivery (webhook_id, account_id, event_id, type)
      select w.id, t.account_id, t.id, t.type
      from told t join webhook w on w.account_id = t.account_id
      where w.status = 'enabled' and w.deleted_at is null and w.created_at < t.at
        and (w.events is null or t.type = any (w.events)) and t.type <> 'webhook.test'
      order by t.xact, t.id
      on conflict (webhook_id, event_id) do nothing
      returning 1
    )
    select t.told, t.made, coalesce(l.xact, d.xact), coalesce(l.id, d.id)
    into v_told, made, d.xact, d.id
    from (select (select count(*) from told) as told, (select count(*) from deliveries) as made) t
    left join lateral (select told.xact, told.id from told order by told.xact desc, told.id desc limit 1) l on true;
  end if;
  is_full := v_told >= p_limit;
  -- All before the horizon has been read: a later transaction can put nothing there.
  if not is_full and d.xact < v_horizon then
    d.xact := v_horizon;
    d.id := 0;
  end if;
  update webhook_dispatch set xact = d.xact, id = d.id where (xact, id) <> (d.xact, d.id);
  is_held := exists (select from intent_event e where (e.xact, e.id) > (d.xact, d.id));
  return next;
end $$;
`
