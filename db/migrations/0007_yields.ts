/** What lending has paid, and what the lists and the cancelling of intents need. */
export const yields = `
create table yield_snapshot (
  id bigint generated always as identity primary key,
  chain text not null,
  protocol text not null,
  asset text not null,
  market text not null,
  apy_percent numeric(12, 4) not null,
  taken_at timestamptz not null,
  unique (taken_at, chain, market, asset)
);
create index yield_snapshot_market on yield_snapshot (chain, protocol, asset, id);
comment on table yield_snapshot is 'Rates of all markets every few minutes. Public: it belongs to no account.';
comment on column yield_snapshot.market is 'The contract that deposits go to.';

grant select on yield_snapshot to steward_api;
grant select, insert on yield_snapshot to steward_worker;

-- Ids sort by time: lists are read backwards along them.
create index intent_account on intent (account_id, id);
create index wallet_account on wallet (account_id, id);
drop index intent_wallet;
create index intent_wallet on intent (wallet_id, id);

-- Cancels an intent of which nothing was ever signed, in the caller's transaction: its operations, its
-- reservations and its charge with it. A row lock orders it against the signer, which signs under one too.
-- Security definer: the API may decide this, but may write none of these rows by itself.
create function cancel_intent(p_account text, p_intent text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare i intent;
begin
  -- The account first, as every charge does: two orders would wait for each other.
  perform from account a where a.id = p_account for no key update;
  select * into i from intent x where x.id = p_intent and x.account_id = p_account for update;
  if not found then return 'unknown'; end if;
  if i.cancelled_at is not null then return 'cancelled'; end if;
  if i.status in ('completed', 'failed') then return 'already_over'; end if;
  perform from operation o where o.intent_id = i.id order by o.id for update;
  if exists (select from operation o where o.intent_id = i.id
    and (o.payload is not null or o.state in ('signed', 'mined', 'confirmed', 'final')))
  then return 'already_signed'; end if;
  update operation o set state = 'cancelled', code = 'CANCELLED', message = 'The intent was cancelled.',
    taken_by = null, taken_until = null
  where o.intent_id = i.id and o.state in ('queued', 'deferred');
  update reservation r set released_at = clock_timestamp()
  where r.intent_id = i.id and r.released_at is null;
  update intent x set status = 'failed', cancelled_at = clock_timestamp(), error = json_build_object(
    'code', 'CANCELLED', 'message', 'The intent was cancelled. Nothing was sent.')
  where x.id = i.id;
  perform refund_call(i.request_id);
  return 'cancelled';
end $$;
revoke execute on function cancel_intent from public;
grant execute on function cancel_intent to steward_api;
`
