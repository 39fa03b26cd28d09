-- Intents, fundings, and the reservations of intents.

create table intent (
  id text primary key,
  account_id text not null,
  wallet_id text not null,
  action text not null check (action in ('lend', 'withdraw', 'bridge')),
  asset text not null,
  -- Requested amount in base units of the asset.
  units numeric(78, 0) not null check (units > 0),
  -- The chain that the caller named. For a bridge, the destination.
  chain text,
  status text not null check (status in ('pending', 'planning', 'executing', 'completed', 'failed')),
  plan json,
  error json,
  request_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When the workflow was started. Null: a worker starts it, unless the intent has ended.
  dispatched_at timestamptz,
  completed_at timestamptz,
  cancelled_at timestamptz,
  from_chain text,
  -- True for a withdrawal of the whole position. units is its value when it was planned.
  everything boolean not null default false,
  -- Lend at the market with the highest return after costs over this many days. Null: at the best rate.
  net_over_days int check (net_over_days > 0),
  metadata json,
  -- Why the intent is late, and where the money is. Null: it is not late.
  delay json,
  -- The failed intent that this intent retries. At most one: a retry of a retry references the retry.
  retry_of text,
  -- When a worker claimed it to start its workflow. Other workers skip it for a few seconds. Null: never.
  dispatch_attempted_at timestamptz,
  -- When its reported end was invalidated. The sweeper restarts the workflow. Null: the end is valid.
  recover_at timestamptz,
  -- Chain heads at which the money was seen, where the indexed blocks do not show it yet. Null: the indexed blocks sufficed.
  seen_blocks json,
  -- When status, plan, error or delay last changed. Null: not since creation. Steps have their own times.
  updated_at timestamptz,
  -- When it completed, failed or was cancelled. Null: it is open.
  ended_at timestamptz,
  -- Gas in USD that it counts towards its account on the day of its creation: the estimate of its plan, the cost of its
  -- operations where that is higher, and only that cost once it has failed.
  gas_usd numeric(20, 6) not null default 0,
  constraint intent_check1 check ((status = 'completed') = (completed_at is not null)),
  constraint intent_check2 check ((status = 'failed') = (error is not null)),
  constraint intent_check3 check ((action = 'bridge') = (from_chain is not null)),
  unique (id, wallet_id),
  foreign key (wallet_id, account_id) references wallet (id, account_id),
  foreign key (retry_of, wallet_id) references intent (id, wallet_id),
  constraint intent_check check (status in ('pending', 'failed') or plan is not null)
);
create index intent_account on intent (account_id, id);
create index intent_wallet on intent (wallet_id, id);
create index intent_failure on intent (account_id, (error ->> 'code'), id) where error is not null;
create index intent_recover on intent (recover_at) where recover_at is not null;
create index intent_account_status on intent (account_id, status, id);
create index intent_late on intent (((delay ->> 'since'::text))) where delay is not null and status = 'executing';
create index intent_ended on intent (account_id, ended_at) include (status, units, created_at, cancelled_at)
  where ended_at is not null;
create index intent_rare_action on intent (account_id, action, id) where action <> 'lend';
create unique index intent_retry_of_key on intent (retry_of) where retry_of is not null;
create index intent_live on intent (id, status) where status not in ('completed', 'failed');
create index intent_undispatched on intent (account_id, dispatch_attempted_at nulls first, created_at)
  where dispatched_at is null and status not in ('completed', 'failed');
alter table intent enable row level security;
create policy own_account on intent to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on intent to steward_worker, steward_signer using (true) with check (true);
create policy as_new on intent as restrictive for insert to steward_api
  with check (status in ('pending', 'planning') and cancelled_at is null and ended_at is null);
grant select, insert on intent to steward_api;
grant select on intent to steward_worker, steward_signer;
grant update (dispatched_at) on intent to steward_api;
grant update (dispatched_at, dispatch_attempted_at, recover_at) on intent to steward_worker;

alter table read_token add foreign key (intent_id) references intent;

create table funding (
  id text primary key,
  account_id text not null,
  wallet_id text not null,
  chain_id bigint not null,
  units numeric(78, 0) not null check (units > 0),
  created_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  completed_at timestamptz,
  -- When a worker claimed it to start its workflow. Other workers skip it for a few seconds. Null: never.
  dispatch_attempted_at timestamptz,
  unique (id, wallet_id),
  foreign key (wallet_id, account_id) references wallet (id, account_id)
);
create index funding_open on funding (id) where completed_at is null;
create index funding_account on funding (account_id, created_at);
create index funding_wallet on funding (wallet_id, created_at);
create index funding_open_wallet on funding (wallet_id, created_at) where completed_at is null;
create index funding_undispatched on funding (account_id, dispatch_attempted_at nulls first, created_at) where dispatched_at is null;
alter table funding enable row level security;
create policy own_account on funding to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on funding to steward_worker, steward_signer using (true) with check (true);
grant select, insert on funding to steward_api;
grant select, update (dispatched_at, dispatch_attempted_at, completed_at) on funding to steward_worker;
grant select on funding to steward_signer;
grant update (dispatched_at) on funding to steward_api;
grant update (dispatch_attempted_at) on funding to steward_worker;

-- Gas that the intents of an account take from the senders, in USD: those created on the latest UTC day with one.
create table account_gas (
  account_id text primary key references account,
  day date not null,
  usd numeric(20, 6) not null
);
alter table account_gas enable row level security;

-- The UTC day of an instant.
create function utc_day(p_at timestamptz) returns date language sql immutable as
  $$ select (p_at at time zone 'UTC')::date $$;

-- Counts the estimated gas of a new intent. When it exceeds the budget of the day, nothing is counted, and the gas used
-- before is returned. Null without an estimate or a budget. The caller has locked the account, and locks no row after it.
create function use_gas(p_account text, p_usd numeric, p_budget numeric) returns json language plpgsql strict as $$
declare
  v_day date := utc_day(clock_timestamp());
  v_used numeric;
begin
  select g.usd into v_used from account_gas g where g.account_id = p_account and g.day = v_day for no key update;
  v_used := coalesce(v_used, 0);
  if v_used + p_usd > p_budget then
    return json_build_object('usedUsd', v_used, 'budgetUsd', p_budget,
      'retryAfter', ceil(extract(epoch from (v_day + 1)::timestamp at time zone 'UTC' - clock_timestamp())));
  end if;
  insert into account_gas as g (account_id, day, usd) values (p_account, v_day, p_usd)
  on conflict (account_id) do update set day = v_day, usd = v_used + p_usd;
  return null;
end $$;

-- Money of a wallet that a step of an open intent will spend.
create table reservation (
  intent_id text,
  sequence int,
  wallet_id text not null,
  chain_id bigint not null,
  -- The token that the step spends. A withdrawal spends the market's receipt token, counted in units of the underlying.
  token text not null check (token = lower(token)),
  units numeric(78, 0) not null check (units > 0),
  -- The first block at which the reservation counts. 0: the money was there at planning. Null: it has not arrived yet.
  from_block bigint default 0,
  -- The block in which the step spent the money. From this block on the balance shows it.
  spent_block bigint,
  -- Set when the step did not spend the money and never will.
  released_at timestamptz,
  -- Sequence of the step that delivers the money. Until it has, units is a forecast.
  fed_by int,
  -- The market that the step pays into or out of.
  market text check (market = lower(market)),
  everything boolean not null default false,
  primary key (intent_id, sequence),
  constraint reservation_check check (fed_by is not null or from_block is not distinct from 0),
  foreign key (intent_id, wallet_id) references intent (id, wallet_id)
);
create index reservation_market on reservation (wallet_id, chain_id, market)
  where market is not null and spent_block is null and released_at is null;
create index reservation_capacity on reservation (chain_id, market, token)
  where market is not null and spent_block is null and released_at is null;
create index reservation_spent on reservation (chain_id, spent_block) where spent_block is not null;
create index reservation_fed on reservation (chain_id, from_block) where fed_by is not null;
create index reservation_wallet on reservation (wallet_id, chain_id, spent_block, released_at);
alter table reservation enable row level security;
create policy own_account on reservation to steward_api
  using ((select true from wallet w where (w.id = reservation.wallet_id)))
  with check ((select true from wallet w where (w.id = reservation.wallet_id)));
create policy all_accounts on reservation to steward_worker, steward_relayer, steward_signer
  using (true) with check (true);
grant select, insert on reservation to steward_api;
grant select on reservation to steward_worker, steward_relayer;
grant insert (intent_id, sequence, wallet_id, chain_id, token, units, from_block, fed_by, market, everything) on
  reservation to steward_worker;
grant update (units, from_block, spent_block, released_at) on reservation to steward_relayer;
grant update (released_at) on reservation to steward_worker;

-- Total units that open intents of all accounts will deposit into or withdraw from markets.
create function market_reserved(p_chain bigint, p_markets text[], p_token text) returns numeric
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(r.units), 0) from reservation r
  where r.chain_id = p_chain and r.market = any(p_markets) and r.token = p_token
    and r.spent_block is null and r.released_at is null
$$;

-- Wakes the workers, which start the workflow.
create function notify_start() returns trigger language plpgsql as $$
begin
  perform pg_notify('start', '');
  return null;
end $$;
create trigger intent_to_start after insert on intent for each statement execute function notify_start();
create trigger funding_to_start after insert on funding for each statement execute function notify_start();

grant execute on function market_reserved to steward_api, steward_worker;
