/** A transaction that is stuck is signed again: what became of each of its sends, and when no more may follow. */
export const replacing = `
alter table chain_tx_send
  add column sent_at timestamptz,
  add column sent_block bigint,
  add column refusals int not null default 0 check (refusals >= 0);
comment on table chain_tx_send is
  'Signed bytes, stored before they are broadcast. Append-only: of the sends of one nonce one at most is mined, whichever it is.';
comment on column chain_tx_send.sent_at is
  'When a node answered to these bytes first, whatever it said. Null: never sent, or not since a reorg took them back.';
comment on column chain_tx_send.sent_block is 'The block that was booked at sent_at.';
comment on column chain_tx_send.refusals is
  'How often in a row every endpoint has refused these bytes for a reason that no time mends.';

-- What is carried by a transaction is looked up whenever one is mined.
create index operation_carried on operation (tx_id) where state in ('signed', 'mined');

-- The driver knows what nodes answer, the signer signs.
grant update (sent_at, sent_block, refusals) on chain_tx_send to steward_lanes;
revoke insert on chain_tx_send from steward_signer;
grant insert (tx_id, n, hash, raw, max_fee) on chain_tx_send to steward_signer;

-- Further bytes for a nonce only while its transaction is open, and stays so until they are stored. While somebody
-- judges it nothing is inserted, and nobody waits for the other.
-- Security definer: the signer has no right by which it could lock that row.
create function append_send() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from chain_tx t where t.id = new.tx_id and t.state = 'open' for no key update skip locked;
  if not found then return null; end if;
  return new;
end $$;
revoke execute on function append_send from public;
create trigger send_appended before insert on chain_tx_send
  for each row when (new.n > 1) execute function append_send();
`
