/** The signer finds what is next by index, however much waits. */
export const queue = `
alter table operation add column priority smallint;
comment on column operation.priority is
  'How soon it is served, by the plan of its account: a lower number first.';
create function priority_of(p_plan text) returns smallint language sql immutable as $$
  select case p_plan when 'enterprise' then 2 when 'pro' then 3 else 4 end
$$;
update operation o set priority = priority_of(a.plan) from account a where a.id = o.account_id;
alter table operation alter column priority set not null;

-- Security definer: whoever orders an operation need not know the plan of its account, and nobody writes this.
create function set_priority() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- Of an account that is not there: its foreign key says so.
  new.priority := coalesce(
    (select priority_of(a.plan) from account a where a.id = new.account_id), priority_of(null));
  return new;
end $$;
create trigger operation_priority before insert on operation
  for each row execute function set_priority();
create function follow_plan() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update operation set priority = priority_of(new.plan)
  where account_id = new.id and state in ('queued', 'deferred');
  return null;
end $$;
create trigger account_replanned after update of plan on account
  for each row when (new.plan is distinct from old.plan) execute function follow_plan();
revoke execute on function priority_of, set_priority, follow_plan from public;

-- What waits: account by account, swaps pair by pair. What is taken alone stands apart, and what somebody works on.
drop index operation_queued;
create index operation_waiting on operation (chain_id, priority, account_id, created_at)
  where state = 'queued' and lost_leases < 2 and (kind <> 'swap' or resource is null);
-- One key for chain and pair, so that no other index looks as good where the planner expects few of a pair.
create index operation_swaps on operation ((chain_id::text || ' ' || resource) collate "C", priority, created_at)
  where state = 'queued' and lost_leases < 2 and kind = 'swap' and resource is not null;
create index operation_alone on operation (chain_id, created_at)
  where tx_id is null and (state = 'signed' or state = 'queued' and lost_leases >= 2);
create index operation_leased on operation (chain_id, wallet_id)
  where state = 'queued' and taken_by is not null;

-- Who contends for something: what is under way, and who was turned away. Not all that waits.
drop index operation_resource;
create index operation_contending on operation (chain_id, resource)
  where state = 'signed' and resource is not null;
create index operation_turned_away on operation (chain_id, resource)
  where state in ('queued', 'deferred') and code in ('DEPOSIT_FAILED', 'WITHDRAW_FAILED')
    and refused_block is null;
`
