/** What lanes can pay, what their open transactions may still cost, and the treasury as a sender that refills them. */
export const laneGas = `
alter table lane
  add column purpose text not null default 'operations' check (purpose in ('operations', 'treasury')),
  add column dry_since timestamptz,
  add column dry_gas numeric(78, 0) check (dry_gas > 0),
  add column refill_tx bigint references chain_tx,
  add check ((dry_since is null) = (dry_gas is null)),
  add check (purpose = 'operations' or dry_since is null and refill_tx is null);
grant select (purpose) on lane to steward_worker, steward_api;
comment on column lane.purpose is
  'operations: it carries operations. treasury: it sends ETH to the lanes of its chain, and carries nothing.';
comment on column lane.dry_since is 'Since when it cannot pay: it is given no operations while another lane can.';
comment on column lane.dry_gas is 'Gas that it could not pay for. With as much again it is not dry any more.';
comment on column lane.refill_tx is 'The last transfer that the treasury made to it: no other while that one is open.';

alter table chain_tx
  add column gas_limit numeric(78, 0) check (gas_limit > 0),
  add column l1_fee_wei numeric(78, 0) not null default 0 check (l1_fee_wei >= 0),
  add column value_wei numeric(78, 0) not null default 0 check (value_wei >= 0),
  add column opened_at timestamptz not null default clock_timestamp();
comment on column chain_tx.gas_limit is
  'With the highest fee of its sends the most that its gas may cost. Null: unknown, as much as a transaction may have.';
comment on column chain_tx.l1_fee_wei is 'The most that posting it on L1 may cost beside its gas.';
comment on column chain_tx.value_wei is 'Wei that it moves: what the treasury sends to a lane.';
comment on column chain_tx.opened_at is 'Since when it is open. A block that vanishes opens it anew.';
update chain_tx set opened_at = created_at;

create function reopen_chain_tx() returns trigger language plpgsql as $$
begin
  new.opened_at := clock_timestamp();
  return new;
end $$;
create trigger chain_tx_reopened before update of state on chain_tx
  for each row when (new.state = 'open' and old.state <> 'open') execute function reopen_chain_tx();
`
