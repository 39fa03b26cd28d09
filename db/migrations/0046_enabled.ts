/** An endpoint that is enabled again is told what happens from then on, however late what was before is dispatched. */
export const enabled = `
alter table webhook add column enabled_at timestamptz not null default clock_timestamp();
update webhook set enabled_at = created_at;
comment on column webhook.enabled_at is 'Since when it is told what happens.';
create function note_enabled() returns trigger language plpgsql as $$
begin
  new.enabled_at := clock_timestamp();
  return new;
end $$;
create trigger webhook_enabled before update of status on webhook for each row
  when (old.status = 'disabled' and new.status = 'enabled') execute function note_enabled();

-- As before but for that.
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
      where w.status = 'enabled' and w.deleted_at is null and w.enabled_at < t.at
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
