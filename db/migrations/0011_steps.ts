/** Every action, every kind of operation, money on its way between steps and between chains. */
export const steps = `
alter table intent
  drop constraint intent_action_check,
  add check (action in ('lend', 'withdraw', 'bridge')),
  add column from_chain text,
  add column everything boolean not null default false,
  add column net_over_days int check (net_over_days > 0),
  add column metadata json,
  add column delay json,
  add column retry_of text unique references intent,
  add check ((action = 'bridge') = (from_chain is not null));
comment on column intent.chain is 'The chain named by the caller: where a bridge leads to.';
comment on column intent.everything is 'A withdrawal of all there is. units is what it was worth when it was planned.';
comment on column intent.net_over_days is 'Lend where most is left after costs over so many days. Null: at the best rate.';
comment on column intent.delay is 'Why it is late and where the money is meanwhile. Null: it is not late.';
comment on column intent.retry_of is 'The failed intent whose goal this one reaches. One at most: a retry of a retry names the retry.';

alter table operation
  drop constraint operation_kind_check,
  add check (kind in ('bridge', 'mint', 'swap', 'deposit', 'withdraw', 'fund'));
comment on column operation.chain_key is 'Key of the operation on the chain: the 2D nonce key of a user operation, the EIP-3009 nonce of a funding, the CCTP nonce of a mint.';
-- A message may be minted by anybody: only the id of its own step makes a row of ours.
comment on column operation.payload is 'What was signed and may be executed by anybody: a user operation, or the call of a funding or a mint.';

alter table reservation
  alter column from_block drop not null,
  add column fed_by int,
  add column market text check (market = lower(market)),
  add column everything boolean not null default false,
  add check (fed_by is not null or from_block is not distinct from 0);
create index reservation_market on reservation (wallet_id, chain_id, market)
  where market is not null and spent_block is null and released_at is null;
comment on column reservation.from_block is 'Counts from this block on. 0: the money was there when the intent was planned. Null: it has not arrived yet.';
comment on column reservation.fed_by is 'Sequence of the step that brings the money. units is a forecast until it has.';
comment on column reservation.market is 'The market that the step pays into or out of.';
comment on column reservation.token is 'What is spent. A withdrawal spends the market''s receipt token, counted in units of what it stands for.';

create table burn (
  operation_id text primary key references operation,
  source_domain int not null,
  destination_block bigint not null,
  sent text,
  burned_at timestamptz,
  event_nonce text,
  message text,
  attestation text,
  unique (source_domain, event_nonce),
  check ((event_nonce is null) = (message is null) and (message is null) = (attestation is null))
);
comment on table burn is 'Money that left a chain over CCTP, and the message that brings it out on the other.';
comment on column burn.destination_block is 'Lowest block of the destination that a reorg could have replaced at the time of the burn: no mint is before it.';
comment on column burn.sent is 'The message as the burn emitted it, without what the attester fills in.';
comment on column burn.message is 'The message as it is attested: what the mint needs.';

grant select, insert, update on burn to steward_worker;
grant select on burn to steward_signer;
`
