/** The lanes are a process of their own, with a role of its own. Each role writes what is its own to write. */
export const lanesRole = `
-- The burns of which something is left to ask are few, however many there have been.
alter table burn add column minted boolean not null default false;
comment on column burn.minted is 'What was burned has come out for good: nothing is left to do.';
update burn set minted = true from operation b join operation m using (intent_id, sequence)
where b.id = burn.operation_id and m.kind = 'mint' and m.state = 'final';
create index burn_open on burn (operation_id) where sent is not null and not minted;

-- What the chains and the bridge say is written by the lanes.
grant select on deployment, chain, block_header, chain_tx, chain_tx_send, operation, reservation, burn
  to steward_lanes;
grant select (id, address) on wallet to steward_lanes;
grant select (address) on treasury to steward_lanes;
grant insert on chain, block_header to steward_lanes;
grant update (booked_block, booked_hash, booked_at, finalized_block) on chain to steward_lanes;
grant delete on block_header to steward_lanes;
grant update (state, mined_send, block_number, block_hash) on chain_tx to steward_lanes;
grant update (state, code, message, retry_after, taken_by, taken_until, tx_id, success, tx_hash, block_number,
  block_hash, log_index, gas_used, gas_cost_usd, units) on operation to steward_lanes;
grant update (units, from_block, spent_block, released_at) on reservation to steward_lanes;
grant update (sent, burned_at, event_nonce, message, attestation, minted) on burn to steward_lanes;
alter policy all_accounts on wallet to steward_worker, steward_signer, steward_lanes;
alter policy all_accounts on reservation to steward_worker, steward_signer, steward_lanes;

-- The worker orders, waits, and gives up what nobody has signed.
revoke insert, update, delete on chain, block_header from steward_worker;
revoke all on chain_tx, chain_tx_send from steward_worker;
revoke insert, update on operation, reservation, burn from steward_worker;
grant insert (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, input, min_block)
  on operation to steward_worker;
grant update (state, chain_key, input, code, message, taken_by, taken_until) on operation to steward_worker;
grant insert (intent_id, sequence, wallet_id, chain_id, token, units, from_block, fed_by, market, everything)
  on reservation to steward_worker;
grant update (released_at) on reservation to steward_worker;
grant insert (operation_id, source_domain, destination_block) on burn to steward_worker;

-- The signer takes, refuses and signs.
revoke update on operation from steward_signer;
grant update (state, code, message, retry_after, refused_block, lost_leases, payload, tx_id, taken_by, taken_until)
  on operation to steward_signer;

-- Which operations each may change, and into what. A log counts from any state.
drop policy all_accounts on operation;
create policy all_accounts on operation for select to steward_worker, steward_lanes, steward_signer using (true);
create policy ordered on operation for insert to steward_worker with check (state = 'queued');
create policy unsigned on operation for update to steward_worker
  using (state in ('queued', 'deferred')) with check (state in ('queued', 'cancelled'));
create policy taken on operation for update to steward_signer
  using (state in ('queued', 'signed')) with check (state in ('queued', 'deferred', 'rejected', 'signed'));
create policy booked on operation for update to steward_lanes
  using (true) with check (state not in ('rejected', 'cancelled'));

-- Whoever waits for a burn hears of its message as of an operation's state.
create function notify_burn() returns trigger language plpgsql as $$
begin
  perform pg_notify('operation', json_build_object('id', new.operation_id, 'state', 'attested')::text);
  return null;
end $$;
create trigger burn_attested after update of message on burn
  for each row when (old.message is distinct from new.message) execute function notify_burn();

-- Only the signer writes what is signed. What is deferred has nothing signed, whoever defers it.
create function forget_signature() returns trigger language plpgsql as $$
begin
  new.payload := null;
  new.tx_id := null;
  return new;
end $$;
create trigger operation_unsigned before update of state on operation
  for each row when (old.state = 'signed' and new.state = 'deferred') execute function forget_signature();
`
