-- Chains and their blocks, senders and their transactions, bridge fees and yields.

-- indexed_block: the outcomes of all blocks up to this one are in the database.
create table chain (
  id bigint primary key,
  name text not null,
  indexed_block bigint not null,
  indexed_hash text not null,
  finalized_block bigint not null,
  indexed_at timestamptz not null default clock_timestamp(),
  -- Base fee of the indexed block. Null: unknown.
  base_fee_wei numeric,
  -- Seconds after the confirmation of a failure until its money is free and its intent can be retried. A later reorg
  -- that reverses the failure is unlikely.
  failure_hold_seconds int not null default 300 check (failure_hold_seconds >= 0)
);
grant select on chain to steward_api, steward_worker, steward_signer;
grant select, insert on chain to steward_relayer;
grant update (indexed_block, indexed_hash, finalized_block, indexed_at, base_fee_wei, failure_hold_seconds) on chain
  to steward_relayer;

-- Canonical hashes from the finalized block to the indexed one, with gaps where nothing of ours was open. A different
-- hash later means a reorg.
create table block_header (
  chain_id bigint references chain,
  number bigint,
  hash text not null,
  primary key (chain_id, number)
);
grant select on block_header to steward_api, steward_worker;
grant select, insert, delete on block_header to steward_relayer;

-- Senders: accounts that send bundles and pay their gas. next_nonce: the first nonce without a transaction.
create table sender (
  chain_id bigint,
  sender text,
  next_nonce bigint not null default 0 check (next_nonce >= 0),
  kek_id text not null references kek,
  sealed_key bytea not null,
  -- operations: sends bundles. treasury: sends ETH to the senders of its chain, and no bundles.
  purpose text not null default 'operations' check (purpose in ('operations', 'treasury')),
  -- Since when it is out of gas. It receives no operations while another sender can pay.
  out_of_gas_since timestamptz,
  -- Gas cost in wei that it could not pay. It recovers when its balance covers as much again.
  unpaid_gas numeric(78, 0) check (unpaid_gas > 0),
  -- The last refill from the treasury. No other refill is sent while it is open.
  refill_tx bigint,
  primary key (chain_id, sender),
  constraint sender_check check ((out_of_gas_since is null) = (unpaid_gas is null)),
  constraint sender_check1 check (purpose = 'operations' or (out_of_gas_since is null and refill_tx is null))
);
grant select, insert, update on sender to steward_signer;
grant select (chain_id, sender, next_nonce, purpose) on sender to steward_worker, steward_api;

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
  -- Times the highest fee of its sends, this bounds the cost of its gas. Null: unknown, assume the maximum of a
  -- transaction.
  gas_limit numeric(78, 0) check (gas_limit > 0),
  -- Upper bound of the L1 data fee, in addition to the gas.
  l1_fee_wei numeric(78, 0) not null default 0 check (l1_fee_wei >= 0),
  -- Wei transferred by a refill of a sender.
  value_wei numeric(78, 0) not null default 0 check (value_wei >= 0),
  -- Since when it is open. A reorg that removes its block reopens it.
  opened_at timestamptz not null default clock_timestamp(),
  unique (chain_id, sender, nonce),
  foreign key (chain_id, sender) references sender,
  constraint chain_tx_check check ((state in ('mined', 'final')) = (block_hash is not null))
);
create index chain_tx_open on chain_tx (chain_id, sender, nonce) where state = 'open';
create index chain_tx_watched on chain_tx (chain_id, block_number) where state = 'mined';
create index chain_tx_moved on chain_tx (chain_id, sender, created_at) where value_wei > 0;
grant select, insert on chain_tx to steward_signer;
grant select on chain_tx to steward_relayer;
grant update (state, mined_send, block_number, block_hash, opened_at) on chain_tx to steward_relayer;

alter table sender add foreign key (refill_tx) references chain_tx;

-- Signed transactions, stored before they are broadcast. Append-only. At most one send of a nonce is mined, and it can
-- be any of them.
create table chain_tx_send (
  tx_id bigint references chain_tx,
  n int,
  hash text not null unique,
  -- The signed bytes. Emptied a month after the transaction became final or lost: it is never broadcast again.
  raw text not null,
  max_fee numeric(78, 0) not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When the relayer first let these bytes go, just before the broadcast. Null: they have never left.
  leaving_at timestamptz,
  -- When a node first responded to these bytes, with any response. Null: never broadcast, or not since a reorg removed
  -- the transaction.
  sent_at timestamptz,
  -- The indexed block at sent_at.
  sent_block bigint,
  -- Consecutive rejections of these bytes by all endpoints, for a reason that is permanent.
  refusals int not null default 0 check (refusals >= 0),
  primary key (tx_id, n)
);
create index chain_tx_send_age on chain_tx_send (created_at) where raw <> '';
grant select on chain_tx_send to steward_signer, steward_relayer;
grant insert (tx_id, n, hash, raw, max_fee) on chain_tx_send to steward_signer;
grant update (leaving_at, sent_at, sent_block, refusals) on chain_tx_send to steward_relayer;

-- The latest fees reported by the service of a bridge per route. Plans use none older than an hour. No row: never
-- reported.
create table bridge_fee (
  protocol text,
  from_chain text,
  to_chain text,
  -- Fee as a fraction of the amount. Null: the speed is not offered on this route.
  fast_millionths bigint check (fast_millionths >= 0 and fast_millionths <= 1000000),
  -- Fee as a fraction of the amount. Null: the speed is not offered on this route.
  standard_millionths bigint check (standard_millionths >= 0 and standard_millionths <= 1000000),
  read_at timestamptz not null default clock_timestamp(),
  primary key (protocol, from_chain, to_chain),
  constraint bridge_fee_check check (to_chain <> from_chain)
);
grant select on bridge_fee to steward_api, steward_worker;
grant select, insert, update on bridge_fee to steward_relayer;

-- Rates of all markets, sampled every few minutes. Public: no account owns them.
create table yield_snapshot (
  id bigint generated always as identity primary key,
  chain text not null,
  protocol text not null,
  asset text not null,
  -- The contract that receives deposits.
  market text not null,
  apy_percent numeric(12,4) not null,
  taken_at timestamptz not null,
  unique (taken_at, chain, market, asset)
);
create index yield_snapshot_market on yield_snapshot (chain, protocol, asset, id);
grant select on yield_snapshot to steward_api;
grant select, insert on yield_snapshot to steward_worker;

-- Drops a replacement of a transaction that is no longer open, or that the relayer is writing. The signer has no
-- permission to lock that row.
create function append_send() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from chain_tx t where t.id = new.tx_id and t.state = 'open' for no key update skip locked;
  if not found then return null; end if;
  return new;
end $$;
create trigger send_appended before insert on chain_tx_send
  for each row when (new.n > 1) execute function append_send();

-- Deletes the bytes of at most p_limit transactions that were stored p_days, and at least 30 days, ago and are final or
-- lost. Returns how many.
create function forget_bytes(p_days int, p_limit int) returns int
language sql security definer set search_path = public, pg_temp as $$
  -- An array, here and below: a join might run the inner query, and lock its rows, more than once.
  with forgotten as (
    update chain_tx_send s set raw = '' where s.hash = any (array(
      select x.hash from chain_tx_send x join chain_tx t on t.id = x.tx_id
      -- Stable within the statement, so that the index is usable.
      where x.raw <> '' and x.created_at < statement_timestamp() - greatest(p_days, 30) * interval '1 day'
        and t.state in ('final', 'lost')
      order by x.created_at limit p_limit for update of x skip locked))
    returning 1)
  select count(*)::int from forgotten
$$;

grant execute on function forget_bytes to steward_worker;
