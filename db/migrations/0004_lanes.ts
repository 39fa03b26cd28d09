/** Operations, the lanes that carry them, and what is known of each chain. */
export const lanes = `
create table chain (
  id bigint primary key,
  name text not null,
  booked_block bigint not null,
  booked_hash text not null,
  finalized_block bigint not null,
  booked_at timestamptz not null default clock_timestamp()
);
comment on table chain is 'booked_block: the outcomes of all blocks up to it are in this database.';

create table block_header (
  chain_id bigint not null references chain,
  number bigint not null,
  hash text not null,
  primary key (chain_id, number)
);
comment on table block_header is 'Canonical hashes from the finalized block to the booked one; what differs later was reorganised.';

create table lane (
  chain_id bigint not null,
  sender text not null,
  next_nonce bigint not null default 0 check (next_nonce >= 0),
  kek_id text not null references kek,
  sealed_key bytea not null,
  primary key (chain_id, sender)
);
comment on table lane is 'Accounts that send our transactions and pay the gas. next_nonce: the first one not yet bound to a transaction.';

create table chain_tx (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  sender text not null,
  nonce bigint not null,
  state text not null default 'open' check (state in ('open', 'mined', 'final', 'lost')),
  mined_send int,
  block_number bigint,
  block_hash text,
  created_at timestamptz not null default clock_timestamp(),
  unique (chain_id, sender, nonce),
  foreign key (chain_id, sender) references lane,
  check ((state in ('mined', 'final')) = (block_hash is not null))
);
create index chain_tx_open on chain_tx (chain_id, sender, nonce) where state = 'open';
create index chain_tx_watched on chain_tx (chain_id, block_number) where state = 'mined';

create table chain_tx_send (
  tx_id bigint not null references chain_tx,
  n int not null,
  hash text not null unique,
  raw text not null,
  max_fee numeric(78, 0) not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tx_id, n)
);
comment on table chain_tx_send is 'Signed bytes, stored before they are broadcast. Append-only.';

create table operation (
  id text primary key,
  intent_id text not null,
  sequence int not null,
  kind text not null check (kind in ('deposit', 'fund')),
  account_id text not null references account,
  wallet_id text not null references wallet,
  chain_id bigint not null,
  chain_key text not null,
  input json not null,
  min_block bigint not null,
  state text not null default 'queued' check (state in
    ('queued', 'deferred', 'signed', 'mined', 'confirmed', 'final', 'rejected', 'cancelled')),
  code text,
  message text,
  retry_after timestamptz,
  refused_block bigint,
  taken_by text,
  taken_until timestamptz,
  lost_leases int not null default 0,
  payload json,
  tx_id bigint references chain_tx,
  success boolean,
  tx_hash text,
  block_number bigint,
  block_hash text,
  log_index int,
  gas_used numeric(78, 0),
  gas_cost_usd numeric(20, 6),
  units numeric(78, 0),
  created_at timestamptz not null default clock_timestamp(),
  unique (intent_id, sequence, kind),
  unique (chain_id, chain_key),
  check ((state in ('mined', 'confirmed', 'final')) = (block_hash is not null)),
  check (state <> 'deferred' or (code is not null and retry_after is not null))
);
create index operation_queued on operation (chain_id, created_at) where state in ('queued', 'signed');
create index operation_unfinal on operation (chain_id)
  where state in ('queued', 'deferred', 'signed', 'mined', 'confirmed');
create index operation_watched on operation (chain_id, block_number) where state in ('mined', 'confirmed');
create index operation_wallet on operation (wallet_id, chain_id) where state in ('signed', 'mined', 'confirmed');
comment on table operation is 'One on-chain effect of one step. The chain itself executes chain_key at most once.';
comment on column operation.intent_id is 'An intent, or a funding for kind fund.';
comment on column operation.chain_key is 'Key of the operation on the chain: the 2D nonce key of a user operation, the EIP-3009 nonce of a funding.';
comment on column operation.payload is 'What was signed and may be executed by anybody: a user operation, or the call of a funding.';
comment on column operation.success is 'Verdict of the inner call. Kept when the block vanishes.';
comment on column operation.units is 'Base units moved, read from the operation''s own logs.';

create function notify_operation() returns trigger language plpgsql as $$
begin
  perform pg_notify('operation', json_build_object(
    'id', new.id, 'state', new.state, 'chainId', new.chain_id)::text);
  return null;
end $$;
create trigger operation_changed after insert or update of state on operation
  for each row execute function notify_operation();

grant select on operation, chain, block_header to steward_api;
grant select, insert, update on operation, chain, block_header to steward_worker;
grant delete on block_header to steward_worker;
grant select, update on chain_tx to steward_worker;
grant select on chain_tx_send to steward_worker;
grant select (chain_id, sender, next_nonce) on lane to steward_worker, steward_api;
grant select, update on operation to steward_signer;
grant select on chain to steward_signer;
grant select, insert, update on lane to steward_signer;
grant select, insert on chain_tx, chain_tx_send to steward_signer;
`
