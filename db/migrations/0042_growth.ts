/** What is asked costs as much however much is stored: indexes for what was looked through, sums for what was added up. */
export const growth = `
-- Whose rows are seen, by a value that the planner does not know. It looks up what is stable before the statement sets
-- the account: it would reckon with no row at all, and take the index of an account for what another one finds at once.
create function current_account(p_may_be_unset boolean) returns text language sql stable as
  $$ select nullif(current_setting('app.account', p_may_be_unset), '') $$;
revoke execute on function current_account(boolean) from public;
grant execute on function current_account(boolean) to steward_api, steward_worker, steward_signer;
do $$
declare
  p record;
begin
  for p in
    select tablename, policyname,
      replace(qual, 'current_account()', 'current_account((select true))') as qual,
      replace(with_check, 'current_account()', 'current_account((select true))') as with_check
    from pg_policies where schemaname = 'public' and concat(qual, with_check) like '%current_account()%'
  loop
    execute concat(format('alter policy %I on %I', p.policyname, p.tablename),
      ' using (' || p.qual || ')', ' with check (' || p.with_check || ')');
  end loop;
end $$;

-- Lists of an account, newest first.
create index intent_rare_action on intent (account_id, action, id) where action <> 'lend';
create index webhook_delivery_troubled on webhook_delivery (webhook_id, id) where status <> 'delivered';
create index webhook_delivery_age on webhook_delivery (created_at) where status <> 'pending';

-- Requests of one path or one caller: as those of a wallet, where sorting makes the index cheap.
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
      and to_regclass(c.relname || '_caller') is null
    order by 1
  loop
    if to_regclass(v_name || '_resource') is null then
      execute format('create index on %I (account_id, wallet_id, id) where wallet_id is not null', v_name);
      execute format('create index %I on %I (account_id, resource_id, id) where resource_id is not null',
        v_name || '_resource', v_name);
    end if;
    execute format('create index on %I (account_id, path, id)', v_name);
    execute format('create index %I on %I (account_id, caller_id, id)', v_name || '_caller', v_name);
    v_indexed := v_indexed + 1;
  end loop;
  return v_indexed;
end $$;

-- What a wallet has put into markets.
create index operation_wallet_lent on operation (wallet_id, chain_id)
  where kind in ('deposit', 'withdraw') and success;

-- What of a wallet's money is spoken for, however much of it was spent long ago; and what a reorg takes back.
drop index reservation_wallet;
create index reservation_wallet on reservation (wallet_id, chain_id, spent_block);
create index reservation_spent on reservation (chain_id, spent_block) where spent_block is not null;
create index reservation_fed on reservation (chain_id, from_block) where fed_by is not null;

-- What the treasury has moved of late.
create index chain_tx_moved on chain_tx (chain_id, sender, created_at) where value_wei > 0;

-- Burns of which something is left to do, whether their logs are booked or not.
drop index burn_open;
create index burn_unminted on burn (operation_id) where not minted;

-- How many wallets an account has is written where its row is locked anyway when it gets one.
alter table account add column wallets int not null default 0 check (wallets >= 0);
comment on column account.wallets is 'How many wallets it has.';
update account a set wallets = (select count(*) from wallet w where w.account_id = a.id);
create function count_wallets() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update account a set wallets = a.wallets + made.count
  from (select account_id, count(*)::int from made group by account_id) made where a.id = made.account_id;
  return null;
end $$;
create trigger wallet_counted after insert on wallet
  referencing new table as made for each statement execute function count_wallets();

-- What an account has lent, without what is not final yet. One process at a time ends the watch over a chain, so that
-- nobody waits for one of these rows.
create table account_lent (
  account_id text not null references account,
  chain_id bigint not null,
  resource text not null,
  units numeric(78, 0) not null,
  primary key (account_id, chain_id, resource)
);
comment on table account_lent is 'Sums of the final deposits and withdrawals of an account, by what they contended for.';
comment on column account_lent.units is 'Base units of what the market takes.';
insert into account_lent (account_id, chain_id, resource, units)
select account_id, chain_id, resource, sum(units) from operation
where kind in ('deposit', 'withdraw') and success and state = 'final' and resource is not null and units is not null
group by 1, 2, 3;
create function add_lent() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_units numeric := 0;
begin
  if tg_op = 'UPDATE' and old.state = 'final' and old.success then v_units := -coalesce(old.units, 0); end if;
  if new.state = 'final' and new.success then v_units := v_units + coalesce(new.units, 0); end if;
  if v_units = 0 then return null; end if;
  insert into account_lent as l (account_id, chain_id, resource, units)
  values (new.account_id, new.chain_id, new.resource, v_units)
  on conflict (account_id, chain_id, resource) do update set units = l.units + excluded.units;
  return null;
end $$;
create trigger operation_lent_added after insert on operation for each row
  when (new.state = 'final' and new.kind in ('deposit', 'withdraw') and new.resource is not null)
  execute function add_lent();
create trigger operation_lent_changed after update of state on operation for each row
  when ((old.state = 'final') <> (new.state = 'final') and new.kind in ('deposit', 'withdraw')
    and new.resource is not null)
  execute function add_lent();
drop index operation_lent;
create index operation_lent_open on operation (account_id)
  where kind in ('deposit', 'withdraw') and success and state in ('mined', 'confirmed');
revoke execute on function count_wallets, add_lent from public;

alter table account_lent enable row level security;
create policy own_account on account_lent for select to steward_api using (account_id = current_account((select true)));
grant select on account_lent to steward_api;
`
