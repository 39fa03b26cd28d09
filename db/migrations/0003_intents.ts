/** What callers asked for, and the money that is spoken for. */
export const intents = `
create table intent (
  id text primary key,
  account_id text not null references account,
  wallet_id text not null references wallet,
  action text not null check (action in ('lend')),
  asset text not null,
  units numeric(78, 0) not null check (units > 0),
  chain text,
  status text not null check (status in ('pending', 'planning', 'executing', 'completed', 'failed')),
  plan json,
  error json,
  request_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  completed_at timestamptz,
  cancelled_at timestamptz,
  check (status in ('pending', 'failed') or plan is not null),
  check ((status = 'completed') = (completed_at is not null)),
  check ((status = 'failed') = (error is not null))
);
create index intent_undispatched on intent (created_at) where dispatched_at is null;
create index intent_live on intent (created_at) where status not in ('completed', 'failed');
create index intent_wallet on intent (wallet_id);
comment on column intent.units is 'Requested amount in base units of the asset.';
comment on column intent.dispatched_at is 'When its workflow was started. Null: the sweeper starts it.';

create table funding (
  id text primary key,
  account_id text not null references account,
  wallet_id text not null references wallet,
  chain_id bigint not null,
  units numeric(78, 0) not null check (units > 0),
  created_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  completed_at timestamptz
);
create index funding_undispatched on funding (created_at) where dispatched_at is null;

create table reservation (
  intent_id text not null references intent,
  sequence int not null,
  wallet_id text not null references wallet,
  chain_id bigint not null,
  token text not null check (token = lower(token)),
  units numeric(78, 0) not null check (units > 0),
  from_block bigint not null default 0,
  spent_block bigint,
  released_at timestamptz,
  primary key (intent_id, sequence)
);
create index reservation_wallet on reservation (wallet_id, chain_id);
comment on table reservation is 'Money of a wallet that a step of an intent will spend.';
comment on column reservation.from_block is 'Counts from this block on. 0: the money was there when the intent was planned.';
comment on column reservation.spent_block is 'Block in which the step spent it with success: from there on the balance itself shows it.';
comment on column reservation.released_at is 'Set when the money was not and will not be spent.';

grant select, insert on intent, funding, reservation to steward_api;
grant update (dispatched_at) on intent, funding to steward_api;
-- Row locks need an update right on one column: the wallet row orders the intents of a wallet.
grant update (metadata) on wallet to steward_api, steward_worker;
grant select, update on intent, funding, reservation to steward_worker;
grant insert on reservation to steward_worker;
grant select on intent, funding to steward_signer;
`
