-- The roles of the services, and what every other file builds on.

-- Roles belong to the whole server: the migration of another database may create them at the same moment.
do $$
declare v_role text;
begin
  foreach v_role in array '{steward_api,steward_worker,steward_lanes,steward_signer}'::text[] loop
    begin
      if to_regrole(v_role) is null then execute format('create role %I login', v_role); end if;
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
end $$;

-- Functions name tables of later files.
set local check_function_bodies = off;

-- A role runs the functions that it is granted, and no others.
alter default privileges revoke execute on functions from public;

-- Read by the services to know whether the schema is theirs.
grant select on schema_version to steward_api, steward_worker, steward_lanes, steward_signer;

-- The network this database belongs to. Another one is refused at boot.
create table deployment (
  only_row boolean default true primary key check (only_row),
  network text not null,
  created_at timestamptz not null default clock_timestamp()
);
grant select on deployment to steward_api, steward_worker, steward_signer, steward_lanes;

-- The account whose rows a service sees, set by app.account in its transaction. The first wall between accounts is the
-- condition of each query; policies by this value are the second: without it the API sees no row.
-- Policies pass (select true): a constant would let the planner look the value up before the statement sets it.
create function current_account(p_may_be_unset boolean) returns text language sql stable as
  $$ select nullif(current_setting('app.account', p_may_be_unset), '') $$;

-- Fails a change of a row of a table that is append-only.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only.', tg_table_name using errcode = 'restrict_violation';
end $$;

-- The member of an account on whose behalf a dashboard call runs, set by app.member.
create function current_member() returns text language sql stable as
  $$ select nullif(current_setting('app.member', true), '') $$;

grant execute on function current_account to steward_api, steward_worker, steward_signer;
grant execute on function current_member to steward_api;
