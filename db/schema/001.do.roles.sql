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

-- Read by the services to know whether the schema is theirs.
grant select on schema_version to steward_api, steward_worker, steward_lanes, steward_signer;

create table deployment (
  only_row boolean default true primary key check (only_row),
  network text not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table deployment is 'The network this database belongs to. Another one is refused at boot.';
grant select on deployment to steward_api, steward_worker, steward_signer, steward_lanes;

-- The first wall is the account in every query. This one holds when a query forgets it: the API sees the rows
-- of the account that its statement names by app.account, and none without.
create function current_account() returns text language sql stable as
  $$ select nullif(current_setting('app.account', true), '') $$;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only.', tg_table_name using errcode = 'restrict_violation';
end $$;

create function current_member() returns text language sql stable as
  $$ select nullif(current_setting('app.member', true), '') $$;

-- Whose rows are seen, by a value that the planner does not know. It looks up what is stable before the statement sets
-- the account: it would reckon with no row at all, and take the index of an account for what another one finds at once.
create function current_account(p_may_be_unset boolean) returns text language sql stable as
  $$ select nullif(current_setting('app.account', p_may_be_unset), '') $$;

revoke execute on function refuse_change, current_account(boolean) from public;
grant execute on function current_account(), current_account(boolean) to steward_api, steward_worker, steward_signer;
grant execute on function current_member to steward_api;
