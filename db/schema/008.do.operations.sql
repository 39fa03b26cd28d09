-- Operations: the on-chain effects of steps.

-- One on-chain effect of one step. The chain itself executes chain_key at most once.
create table operation (
  id text primary key,
  -- The intent, or the funding for kind fund.
  intent_id text not null,
  sequence int not null,
  kind text not null check (kind in ('bridge', 'mint', 'swap', 'deposit', 'withdraw', 'fund')),
  account_id text not null,
  wallet_id text not null,
  chain_id bigint not null,
  -- Key of the operation on the chain: the 2D nonce key of a user operation, the EIP-3009 nonce of a funding, the
  -- CCTP nonce of a mint.
  chain_key text not null,
  -- Base units that it spends, for capacity only: the signer derives its own amount. Null: unknown, a mint or a funding.
  input_units numeric(78, 0),
  min_block bigint not null,
  state text not null default 'queued'
    check (state in ('queued', 'deferred', 'signed', 'mined', 'confirmed', 'final', 'rejected', 'cancelled')),
  code text,
  message text,
  retry_after timestamptz,
  refused_block bigint,
  lease_owner text,
  leased_until timestamptz,
  lost_leases int not null default 0,
  tx_id bigint references chain_tx,
  -- Success of the inner call. Kept when a reorg removes the block.
  success boolean,
  tx_hash text,
  block_number bigint,
  block_hash text,
  log_index int,
  gas_used numeric(78, 0),
  gas_cost_usd numeric(20, 6),
  -- Of a deposit or withdrawal: base units per 10^27 shares of its market at its block. Null: unknown.
  share_price numeric,
  -- Base units moved, read from the operation's own logs.
  units numeric(78, 0),
  created_at timestamptz not null default clock_timestamp(),
  -- The intent of the operation. Null for a funding.
  for_intent text generated always as (case when kind <> 'fund' then intent_id end) stored,
  -- The funding that it pays. Null for a step of an intent.
  for_funding text generated always as (case when kind = 'fund' then intent_id end) stored,
  -- Reverted bundles and rejected attempts to include it since it was last in a block.
  inclusion_failures int not null default 0 check (inclusion_failures >= 0),
  -- Transactions of ours that included it and reverted. Each cost gas.
  reverts int not null default 0 check (reverts >= 0),
  -- The lowest block that may hold its log, set when the signer finds its key used on chain. The relayer searches from
  -- here. Kept with the log. Null: the key is not known to be used.
  spent_since bigint check (spent_since >= 0),
  -- What it contends for on its chain: "deposit:" or "withdraw:" and a market, "swap:" and a token pair, "burn:" and a
  -- wallet. Null: nothing.
  resource text,
  -- The published code of the wait reason at the signer's last attempt. Null: no attempt yet, or signed since.
  waits_for text,
  -- Since when every attempt had the same wait reason.
  waits_since timestamptz,
  signed_at timestamptz,
  -- When its block was indexed. Null: it is in no block.
  mined_at timestamptz,
  -- When it was confirmed, rejected or cancelled. Null: it is open.
  ended_at timestamptz,
  -- When its state last changed in a way that callers see.
  changed_at timestamptz,
  -- The timestamp of its block. Null: in no block, or unknown.
  block_time timestamptz,
  -- Signing order by the plan of its account. The lowest number is first.
  priority smallint not null,
  constraint operation_check1 check (state <> 'deferred' or (code is not null and retry_after is not null)),
  unique (intent_id, sequence, kind),
  unique (chain_id, chain_key),
  foreign key (for_intent, wallet_id) references intent (id, wallet_id),
  foreign key (for_funding, wallet_id) references funding (id, wallet_id),
  foreign key (wallet_id, account_id) references wallet (id, account_id),
  constraint operation_check check ((state in ('mined', 'confirmed', 'final')) = (block_hash is not null))
);
create index operation_watched on operation (chain_id, block_number) where state in ('mined', 'confirmed');
create index operation_included on operation (tx_id) where state in ('signed', 'mined');
create index operation_spent on operation (chain_id)
  where spent_since is not null and state in ('queued', 'deferred', 'signed');
create index operation_final on operation (chain_id, block_number) where state = 'final';
create index operation_hash on operation (tx_hash) where tx_hash is not null;
create index operation_contending on operation (chain_id, resource) where state = 'signed' and resource is not null;
create index operation_turned_away on operation (chain_id, resource)
  where state in ('queued', 'deferred') and code in ('DEPOSIT_FAILED', 'WITHDRAW_FAILED') and refused_block is null;
create index operation_wallet_lent on operation (wallet_id, chain_id)
  where kind in ('deposit', 'withdraw') and success;
create index operation_lent_open on operation (account_id)
  where kind in ('deposit', 'withdraw') and success and state in ('mined', 'confirmed');
create index operation_gas on operation (account_id, ended_at) include (gas_cost_usd)
  where gas_cost_usd is not null and kind <> 'fund';
create index operation_funding on operation (chain_id, state, block_number)
  where kind = 'fund' and state in ('signed', 'mined', 'confirmed');
create index operation_open on operation (chain_id) where state in ('queued', 'deferred', 'signed');
create index operation_limited on operation (wallet_id)
  where code = 'DAILY_LIMIT' and state in ('queued', 'deferred');
create index operation_under_way on operation (intent_id) where state in ('queued', 'deferred', 'signed', 'mined');
create index operation_wallet on operation (wallet_id, chain_id, tx_id)
  where state in ('signed', 'mined', 'confirmed');
create index operation_mined on operation (chain_id, block_number) where state = 'mined';
alter table operation enable row level security;
create policy own_account on operation to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on operation for select to steward_worker, steward_relayer, steward_signer using (true);
create policy ordered on operation for insert to steward_worker with check (state = 'queued');
create policy unsigned on operation for update to steward_worker
  using (state in ('queued', 'deferred'))
  with check (state = 'queued' or (state = 'cancelled' and spent_since is null));
create policy claimed on operation for update to steward_signer
  using (state in ('queued', 'signed')) with check (state in ('queued', 'deferred', 'rejected', 'signed'));
create policy indexed on operation for update to steward_relayer
  using (true) with check (state not in ('rejected', 'cancelled'));
grant select on operation to steward_api, steward_worker, steward_signer, steward_relayer;
grant insert (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, min_block) on operation to steward_worker;
grant update (state, code, message, lease_owner, leased_until) on operation to steward_worker;
grant update (state, code, message, retry_after, lease_owner, leased_until, tx_id, success, tx_hash, block_number,
  block_hash, log_index, gas_used, gas_cost_usd, share_price, units, inclusion_failures, reverts, block_time)
  on operation to steward_relayer;
grant update (state, code, message, retry_after, refused_block, lease_owner, leased_until, lost_leases, tx_id,
  inclusion_failures, reverts, spent_since, waits_for, waits_since) on operation to steward_signer;

-- The signed payload of an operation. While it exists, anyone may execute it.
create table signature (
  operation_id text primary key references operation on delete cascade,
  -- A user operation, or the call of a funding or a mint: enough to include it in another transaction.
  payload json not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When bytes with it were first given to a node. Null: never, so no third party has it.
  sent_at timestamptz
);
grant select, insert (operation_id, payload) on signature to steward_signer;
grant select (operation_id, sent_at) on signature to steward_relayer;

-- Deletes the signature of an operation that is deferred, and detaches its transaction.
create function forget_signature() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from signature s where s.operation_id = new.id;
  new.tx_id := null;
  return new;
end $$;
create trigger operation_unsigned before update of state on operation
  for each row when (old.state = 'signed' and new.state = 'deferred') execute function forget_signature();

-- Sets what an operation spends, its key on the chain, the resource that it contends for, and its priority, from its
-- plan, the steps before it and the plan of its account. The worker cannot write these columns. Definer: the worker need
-- not read the account.
create function describe_operation() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.chain_key := coalesce(new.chain_key, chain_key_of(new));
  new.input_units := coalesce(new.input_units, input_units_of(new));
  if new.kind = 'bridge' then
    new.resource := 'burn:' || new.wallet_id;
  elsif new.kind not in ('mint', 'fund') then
    select case new.kind
      when 'swap' then 'swap:' || least(s ->> 'asset', s ->> 'toAsset') || '/' || greatest(s ->> 'asset', s ->> 'toAsset')
      else new.kind || ':' || lower(s ->> 'market') end
    into new.resource
    from intent i cross join json_array_elements(i.plan -> 'steps') s
    where i.id = new.intent_id and s ->> 'sequence' = new.sequence::text and s ->> 'type' = new.kind
    limit 1;
  end if;
  -- When the account is missing, the foreign key fails.
  new.priority := (
    select case a.plan when 'enterprise' then 2 when 'pro' then 3 else 4 end from account a where a.id = new.account_id);
  return new;
end $$;
create trigger operation_described before insert on operation
  for each row execute function describe_operation();

-- Sets the times of an operation by its state. No role can write them.
create function stamp_operation_times() returns trigger language plpgsql as $$
declare v_now timestamptz := clock_timestamp();
begin
  if new.state = 'final' and tg_op = 'UPDATE' then return new; end if;
  -- A deferred operation is queued repeatedly. Callers see a change only when its wait reason changes.
  if tg_op = 'UPDATE' and not (old.state in ('queued', 'deferred') and new.state in ('queued', 'deferred')) then
    new.changed_at := v_now;
  end if;
  if new.state in ('queued', 'deferred') then
    new.signed_at := null;
  elsif new.state = 'signed' then
    new.signed_at := coalesce(new.signed_at, v_now);
  end if;
  if new.state in ('queued', 'deferred', 'signed') then
    new.mined_at := null;
    new.block_time := null;
  elsif new.state = 'mined' or new.state = 'confirmed' and tg_op = 'UPDATE' and old.state <> 'mined' then
    new.mined_at := v_now;
  end if;
  new.ended_at := case when new.state in ('confirmed', 'final', 'rejected', 'cancelled') then v_now end;
  return new;
end $$;
create trigger operation_times before insert or update of state on operation
  for each row execute function stamp_operation_times();

-- When a confirmed failure counts as settled. Null for every other operation: a final one is settled, the others are not.
create function settles_at(o operation) returns timestamptz language sql stable as $$
  select o.ended_at + c.failure_hold_seconds * interval '1 second' from chain c
  where c.id = o.chain_id and o.state = 'confirmed' and not o.success
$$;
grant execute on function settles_at to steward_api, steward_worker, steward_relayer;

-- Orders an operation under the lock of its intent. Returns the existing row or the new one. Returns null when the
-- intent has ended or its plan has no such step. A mint is ordered in any state of its intent.
-- Runs with the permissions of the caller.
create function order_operation(p_id text, p_intent text, p_sequence int, p_kind text, p_account text,
  p_wallet text, p_chain bigint, out is_new boolean, out o operation)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_status text;
  v_plan json;
begin
  if p_kind <> 'fund' then
    -- A cancelled intent orders nothing, also while a reorg has reopened it.
    select case when i.cancelled_at is null then i.status else 'failed' end, i.plan into v_status, v_plan
    from intent i where i.id = p_intent for update;
    if not found then raise exception 'There is no intent %.', p_intent; end if;
  end if;
  select * into o from operation x where x.id = p_id;
  is_new := not found;
  if not is_new then return; end if;
  -- The stored plan decides: the input of a workflow may have been edited by hand.
  if p_kind not in ('mint', 'fund') and (v_status in ('completed', 'failed') or not exists (
    select from json_array_elements(v_plan -> 'steps') as s (step)
    where (s.step ->> 'sequence')::int = p_sequence and s.step ->> 'type' = p_kind))
  then
    is_new := false;
    return;
  end if;
  if v_status = 'planning' then perform advance_intent(p_intent, 'executing'); end if;
  insert into operation (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, min_block)
  values (p_id, p_intent, p_sequence, p_kind, p_account, p_wallet, p_chain,
    coalesce((select c.indexed_block from chain c where c.id = p_chain), 0))
  returning * into o;
end $$;

grant execute on function order_operation to steward_worker;
