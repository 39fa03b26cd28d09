-- What operations bring about: amounts that count towards a limit, burns, signals to workflows, sums and events.

-- Dollars that began to move when an operation was signed, in base units. Only the signer writes it, once. Kept for
-- two days.
create table signed_amount (
  operation_id text primary key references operation,
  wallet_id text not null references wallet,
  units numeric(78, 0) not null check (units > 0),
  signed_at timestamptz not null default clock_timestamp()
);
create index signed_amount_latest on signed_amount (signed_at);
create index signed_amount_wallet on signed_amount (wallet_id, signed_at);
grant select, insert on signed_amount to steward_signer;
grant select (operation_id, signed_at), delete on signed_amount to steward_worker;

create trigger signed_amount_whole before truncate on signed_amount
  for each statement execute function refuse_change();

-- Refuses every change of a signed amount, and its deletion for 48 hours: twice as long as it counts towards a limit.
create function refuse_change_of_late() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.signed_at < clock_timestamp() - interval '48 hours' then return old; end if;
  raise exception '% is kept as it was written for two days.', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger signed_amount_kept before delete or update on signed_amount
  for each row execute function refuse_change_of_late();

-- Money that left a chain over CCTP, and the message that brings it out on the other.
create table burn (
  operation_id text primary key references operation,
  source_domain int not null,
  -- Lowest block of the destination that a reorg could have replaced at the time of the burn: no mint is before it.
  destination_block bigint not null,
  -- The message as the burn emitted it, without what the attester fills in.
  sent text,
  burned_at timestamptz,
  event_nonce text,
  -- The message as it is attested: what the mint needs.
  message text,
  attestation text,
  -- What was burned has come out for good: nothing is left to do.
  minted boolean not null default false,
  -- When its message was attested first. Null: it is not.
  attested_at timestamptz,
  constraint burn_check
    check (((event_nonce is null) = (message is null)) and ((message is null) = (attestation is null))),
  unique (source_domain, event_nonce)
);
create index burn_unminted on burn (operation_id) where not minted;
alter table burn enable row level security;
create policy all_accounts on burn to steward_worker, steward_lanes, steward_signer using (true) with check (true);
create policy own_account on burn for select to steward_api
  using (exists (select from operation o where (o.id = burn.operation_id)));
grant select on burn to steward_worker, steward_signer, steward_lanes;
grant insert (operation_id, source_domain, destination_block) on burn to steward_worker;
grant select (operation_id, burned_at, attested_at) on burn to steward_api;
grant update (sent, burned_at, event_nonce, message, attestation, attested_at, minted) on burn to steward_lanes;

-- Operations whose workflows wait for a signal that they are settled: a step that takes longer than a minute.
create table awaited (
  operation_id text primary key references operation on delete cascade,
  workflow_id text not null,
  -- Of the operation its outcome, or of the burn that it is its attestation.
  what text not null check (what in ('outcome', 'attestation')),
  since timestamptz not null default clock_timestamp(),
  -- From when on a settled one may be signalled, or signalled again.
  notify_at timestamptz not null default clock_timestamp(),
  attempts int not null default 0
);
alter table awaited enable row level security;
create policy all_accounts on awaited to steward_worker using (true) with check (true);
grant select, update, delete on awaited to steward_worker;

-- Sums of the final deposits and withdrawals of an account, by what they contended for.
create table account_lent (
  account_id text references account,
  chain_id bigint,
  resource text,
  -- Base units of what the market takes.
  units numeric(78, 0) not null,
  primary key (account_id, chain_id, resource)
);
alter table account_lent enable row level security;
create policy own_account on account_lent for select to steward_api
  using (account_id = current_account((select true)));
grant select on account_lent to steward_api;

-- Announces a new operation to the signer, and writes that its step has started. A bridge starts with its burn.
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

-- Announces operations whose state, transaction or block has changed, once for each state and chain of a statement;
-- writes the events of steps that ended, progressed or were reverted, in the order of the chain; and keeps account_lent.
-- A bridge step burns, then mints: it is completed by its mint. What was reported of a confirmed operation is reverted
-- when its block vanishes. An operation that was cancelled with its intent has not failed.
create function follow_operations() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A payload holds 8,000 bytes: 90 ids.
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

  -- In one order, so that two statements do not wait for each other.
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

-- Marks an operation as awaited by its workflow. False, and nothing is marked, when what is awaited is there. Its row
-- is locked: a commit that settles it comes before this one, or finds the mark.
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
