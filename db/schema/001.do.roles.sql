-- Roles of the services, and the objects that all other files depend on.

-- Roles are shared by the whole server, so migrations of two databases may create them concurrently.
do $$
declare v_role text;
begin
  foreach v_role in array '{steward_api,steward_worker,steward_relayer,steward_signer}'::text[] loop
    begin
      if to_regrole(v_role) is null then execute format('create role %I login', v_role); end if;
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
end $$;

-- Functions reference tables that later files create.
set local check_function_bodies = off;

-- A role runs only the functions that are granted to it.
alter default privileges revoke execute on functions from public;

-- The services compare it with the version that they expect.
grant select on schema_version to steward_api, steward_worker, steward_relayer, steward_signer;

-- The network that this database belongs to. Processes configured for another network refuse to start.
create table deployment (
  only_row boolean default true primary key check (only_row),
  network text not null,
  created_at timestamptz not null default clock_timestamp()
);
grant select on deployment to steward_api, steward_worker, steward_signer, steward_relayer;

-- The account that scopes the current transaction, set by app.account. Each query filters by account; these row
-- policies are the second wall. Without app.account the API sees no rows.
-- Policies pass (select true): with a constant the planner would read the setting before the statement sets it.
create function current_account(p_may_be_unset boolean) returns text language sql stable as
  $$ select nullif(current_setting('app.account', p_may_be_unset), '') $$;

-- Rejects changes to append-only tables.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only.', tg_table_name using errcode = 'restrict_violation';
end $$;

grant execute on function current_account to steward_api, steward_worker, steward_signer;
