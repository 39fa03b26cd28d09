-- Results of operations: signed amounts, burns, what later operations spend, signals to workflows, lent sums and step
-- events.

-- USD value that an operation moves, in base units of USDC, written once by the signer. Kept for two days.
create table signed_amount (
  operation_id text primary key references operation,
  wallet_id text not null references wallet,
  units numeric(78, 0) not null check (units > 0),
  signed_at timestamptz not null default clock_timestamp(),
  -- True for a payment of the treasury.
  is_funding boolean not null default false
);
create index signed_amount_latest on signed_amount (signed_at);
create index signed_amount_funding on signed_amount (signed_at) where is_funding;
create index signed_amount_wallet on signed_amount (wallet_id, signed_at);
grant select, insert on signed_amount to steward_signer;
grant select (operation_id, signed_at), delete on signed_amount to steward_worker;

create trigger signed_amount_whole before truncate on signed_amount
  for each statement execute function refuse_change();

-- Rejects changes to a signed amount, and its deletion within 48 hours: twice the window of the daily limit.
create function refuse_change_of_late() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.signed_at < clock_timestamp() - interval '48 hours' then return old; end if;
  raise exception '% is kept as it was written for two days.', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger signed_amount_kept before delete or update on signed_amount
  for each row execute function refuse_change_of_late();

-- Money that left a chain over CCTP, and the message that mints it on the destination.
create table burn (
  operation_id text primary key references operation,
  source_domain int not null,
  -- The lowest destination block that a reorg could have replaced at the time of the burn. The mint is not below it.
  destination_block bigint not null,
  -- The message as the burn emitted it, before attestation.
  sent text,
  burned_at timestamptz,
  event_nonce text,
  -- The attested message, which the mint submits.
  message text,
  attestation text,
  -- True when the mint is final and no work is left.
  minted boolean not null default false,
  -- When the message was first attested. Null: not yet.
  attested_at timestamptz,
  -- Why the service attests a fast transfer only as a standard one, in its own words. Null: it does not report that.
  delay_reason text check (length(delay_reason) <= 200),
  constraint burn_check
    check (((event_nonce is null) = (message is null)) and ((message is null) = (attestation is null))),
  unique (source_domain, event_nonce)
);
create index burn_unminted on burn (operation_id) where not minted;
alter table burn enable row level security;
create policy all_accounts on burn to steward_worker, steward_relayer, steward_signer using (true) with check (true);
create policy own_account on burn for select to steward_api
  using (exists (select from operation o where (o.id = burn.operation_id)));
grant select on burn to steward_worker, steward_signer, steward_relayer;
grant insert (operation_id, source_domain, destination_block) on burn to steward_worker;
grant select (operation_id, burned_at, attested_at, delay_reason) on burn to steward_api;
grant update (sent, burned_at, event_nonce, message, attestation, attested_at, delay_reason, minted) on burn to steward_relayer;

-- The key of an operation on the chain. A mint has the nonce of its message, other effects have a part of their id.
create function chain_key_of(o operation) returns text language sql stable as $$
  select case o.kind
    when 'fund' then o.id
    when 'mint' then (
      select b.event_nonce from burn b join operation x on x.id = b.operation_id
      where x.intent_id = o.intent_id and x.sequence = o.sequence and x.kind = 'bridge')
    else '0x' || substr(o.id, 19) end
$$;

-- Base units that a step spends: what the step before has delivered, else the amount of the stored plan. A withdrawal
-- spends a position. Assets have 6 decimals.
create function input_units_of(o operation) returns numeric language sql stable as $$
  select case when o.kind = 'withdraw' or f.step is null or f.step ->> 'type' = 'deposit'
    then (s.step ->> 'amount')::numeric * 1000000
    else (
      select x.units from operation x
      where x.intent_id = o.intent_id and x.sequence = o.sequence - 1 and x.success
        and x.kind = case f.step ->> 'type' when 'bridge' then 'mint' else f.step ->> 'type' end
        and x.state in ('confirmed', 'final')) end
  from intent i cross join json_array_elements(i.plan -> 'steps') as s (step)
  left join json_array_elements(i.plan -> 'steps') as f (step) on f.step ->> 'sequence' = (o.sequence - 1)::text
  where i.id = o.intent_id and s.step ->> 'sequence' = o.sequence::text and s.step ->> 'type' = o.kind
  limit 1
$$;

-- Renews the amount and the key of a requeued operation: a reorg may have moved its money to another transaction.
create function renew_operation() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.kind = 'mint' then new.chain_key := coalesce(chain_key_of(new), new.chain_key); end if;
  new.input_units := coalesce(input_units_of(new), new.input_units);
  return new;
end $$;
create trigger operation_renewed before update of state on operation
  for each row when (old.state = 'deferred' and new.state = 'queued') execute function renew_operation();

-- Rejects a log of an operation that cannot have been executed: its signature was never given to a node, and the signer
-- has not read its key as used. The owner of the database may repair rows.
create function assert_executed() returns trigger language plpgsql as $$
begin
  if new.spent_since is not null
    or exists (select from signature s where s.operation_id = new.id and s.sent_at is not null)
  then return new; end if;
  raise exception 'Operation % was never sent, and its key is not known to be used.', new.id
    using errcode = 'insufficient_privilege';
end $$;
create trigger operation_executed before update of block_hash on operation
  for each row when (old.block_hash is null and new.block_hash is not null and current_user = 'steward_relayer')
  execute function assert_executed();

-- Records that transactions are given to a node, or were found in a block: from now on anyone may execute what they
-- include.
create function mark_sent(p_hashes text[]) returns void
language sql security definer set search_path = public, pg_temp as $$
  update signature g set sent_at = clock_timestamp()
  where g.sent_at is null and g.operation_id = any (array(
    select o.id from chain_tx_send s join operation o on o.tx_id = s.tx_id
    where s.hash = any (p_hashes) and o.state in ('signed', 'mined')))
$$;

-- Forgets which keys of a chain are used, after a reorg: on another fork they may be unused. Only the signer, which reads
-- them, sets them.
create function forget_spent_keys(p_chain bigint) returns void
language sql security definer set search_path = public, pg_temp as $$
  update operation o set spent_since = null
  where o.chain_id = p_chain and o.spent_since is not null and o.state in ('queued', 'deferred', 'signed')
$$;

-- Operations whose workflows wait for a signal, because the step takes longer than a minute.
create table awaited (
  operation_id text primary key references operation on delete cascade,
  workflow_id text not null,
  -- The outcome of the operation, or the attestation of its burn.
  what text not null check (what in ('outcome', 'attestation')),
  since timestamptz not null default clock_timestamp(),
  -- The earliest time of the next signal.
  notify_at timestamptz not null default clock_timestamp(),
  attempts int not null default 0
);
alter table awaited enable row level security;
create policy all_accounts on awaited to steward_worker using (true) with check (true);
grant select, update, delete on awaited to steward_worker;

-- Sums of the final deposits and withdrawals of an account, per resource.
create table account_lent (
  account_id text references account,
  chain_id bigint,
  resource text,
  -- Base units of the market's underlying token.
  units numeric(78, 0) not null,
  primary key (account_id, chain_id, resource)
);
alter table account_lent enable row level security;
create policy own_account on account_lent for select to steward_api
  using (account_id = current_account((select true)));
grant select on account_lent to steward_api;

-- Notifies the signer of a new operation and emits step_started. A bridge starts with its burn.
create function follow_order() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_notify('operation', json_build_object(
    'id', new.id, 'state', new.state, 'chainId', new.chain_id)::text);
  if new.kind not in ('mint', 'fund') then
    insert into intent_event (intent_id, account_id, wallet_id, type, data)
    values (new.intent_id, new.account_id, new.wallet_id, 'step_started', json_strip_nulls(json_build_object(
      'step', new.sequence, 'kind', new.kind, 'chain', (select c.name from chain c where c.id = new.chain_id),
      'txHash', new.tx_hash)));
  end if;
  return null;
end $$;
create trigger operation_ordered after insert on operation
  for each row execute function follow_order();

-- Notifies listeners of operations whose state, transaction or block changed, once per state and chain. Emits the
-- events of steps that completed, failed, progressed or were reverted, in chain order. Updates account_lent.
-- A bridge step burns, then mints, and completes with its mint. A reorg that removes the block of a confirmed
-- operation reverts its step. An operation that was cancelled with its intent has not failed.
create function follow_operations() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A notification holds 8,000 bytes: 90 ids.
  perform pg_notify('operation',
    json_build_object('ids', json_agg(c.id), 'state', c.state, 'chainId', c.chain_id)::text)
  from (
    select n.id, n.state, n.chain_id, row_number() over (partition by n.state, n.chain_id) / 90 as part
    from changed n join former o using (id)
    where (n.state, n.tx_id, n.block_hash) is distinct from (o.state, o.tx_id, o.block_hash)) c
  group by c.state, c.chain_id, c.part;

  insert into intent_event (intent_id, account_id, wallet_id, type, data)
  select n.intent_id, n.account_id, n.wallet_id,
    case
      when n.state in ('rejected', 'cancelled') or n.state = 'confirmed' and not n.success then 'step_failed'
      when n.state <> 'confirmed' then 'step_reverted'
      when n.kind = 'bridge' then 'step_progressed'
      else 'step_completed' end,
    json_strip_nulls(json_build_object('step', n.sequence, 'kind', n.kind, 'chain', c.name,
      'txHash', n.tx_hash, 'code', case when n.state in ('rejected', 'cancelled') then n.code end))
  from changed n join former o using (id) left join chain c on c.id = n.chain_id
  where n.kind <> 'fund' and n.state <> o.state and (n.state in ('confirmed', 'rejected')
    or n.state = 'cancelled' and n.code is distinct from 'CANCELLED'
    or o.state = 'confirmed' and n.state <> 'final')
  order by n.block_number, n.log_index, n.intent_id, n.sequence;

  -- A fixed order prevents deadlocks between two statements.
  insert into account_lent as l (account_id, chain_id, resource, units)
  select n.account_id, n.chain_id, n.resource, sum(
    case when n.state = 'final' and n.success then coalesce(n.units, 0) else 0 end
      - case when o.state = 'final' and o.success then coalesce(o.units, 0) else 0 end)
  from changed n join former o using (id)
  where (n.state = 'final') <> (o.state = 'final') and n.kind in ('deposit', 'withdraw') and n.resource is not null
  group by n.account_id, n.chain_id, n.resource
  order by n.account_id, n.chain_id, n.resource
  on conflict (account_id, chain_id, resource) do update set units = l.units + excluded.units;
  return null;
end $$;
create trigger operation_followed after update on operation
  referencing old table as former new table as changed for each statement execute function follow_operations();

-- Marks an operation as awaited by its workflow. Returns false without a mark when the awaited result exists. The row
-- lock orders it against the commit that settles the operation: that commit comes first, or finds the mark.
create function mark_awaited(p_operation text, p_what text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_what = 'outcome' then
    perform from operation o where o.id = p_operation and o.state in ('queued', 'signed', 'mined') for share;
  else
    perform from burn b where b.operation_id = p_operation and b.event_nonce is null for share;
  end if;
  if not found then return false; end if;
  insert into awaited as a (operation_id, workflow_id, what)
  select o.id, o.intent_id, p_what from operation o where o.id = p_operation
  on conflict (operation_id) do update
    set what = excluded.what, since = excluded.since, notify_at = excluded.notify_at, attempts = 0;
  return true;
end $$;

grant execute on function mark_awaited to steward_worker;
grant execute on function mark_sent, forget_spent_keys to steward_relayer;
