/** Requests of a path are found among those of a day that is over, and who waits for a daily limit among all that waits. */
export const searching = `
-- As before, by path too. A day that was indexed without gets what it lacks.
create or replace function index_request_log(p_minutes int) returns int
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  v_over text := 'request_log_' || to_char(now() at time zone 'UTC' - p_minutes * interval '1 minute', 'YYYYMMDD');
  v_name text;
  v_indexed int := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass and c.relname ~ '^request_log_\\d{8}$' and c.relname < v_over
      and to_regclass(c.relname || '_path') is null
    order by 1
  loop
    if to_regclass(v_name || '_resource') is null then
      execute format('create index on %I (account_id, wallet_id, id) where wallet_id is not null', v_name);
      execute format('create index %I on %I (account_id, resource_id, id) where resource_id is not null',
        v_name || '_resource', v_name);
    end if;
    execute format('create index %I on %I (account_id, path, id)', v_name || '_path', v_name);
    v_indexed := v_indexed + 1;
  end loop;
  return v_indexed;
end $$;

create index operation_limited on operation (wallet_id) where code = 'DAILY_LIMIT' and state in ('queued', 'deferred');
`
