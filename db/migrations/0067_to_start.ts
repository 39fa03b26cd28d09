/** What is stored is started by the workers: they hear of it when it is committed, once for each account of a statement. */
export const toStart = `
create function notify_start() returns trigger language plpgsql as $$
begin
  perform pg_notify('start', tg_table_name || ' ' || m.account_id) from (select distinct account_id from made) m;
  return null;
end $$;
create trigger intent_to_start after insert on intent
  referencing new table as made for each statement execute function notify_start();
create trigger funding_to_start after insert on funding
  referencing new table as made for each statement execute function notify_start();
create index funding_swept on funding (account_id, swept_at) where completed_at is null and swept_at is not null;
revoke execute on function mark_dispatched, mark_all_dispatched from steward_api;
`
