-- Wallets, and keys sealed to the signer.

-- Public keys of the signer's key encryption keys. The private keys never leave the signer.
create table kek (
  id text primary key,
  public_key bytea not null,
  active boolean not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index kek_one_active on kek (active) where active;
grant select on kek to steward_api, steward_worker;
grant select, insert on kek to steward_signer;

create table wallet (
  id text primary key,
  account_id text not null references account,
  user_id text not null,
  address text not null unique,
  -- json, not jsonb: the caller receives the object exactly as it was sent.
  metadata json not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (account_id, user_id),
  unique (id, account_id)
);
create index wallet_account on wallet (account_id, id);
alter table wallet enable row level security;
create policy own_account on wallet to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on wallet to steward_worker, steward_relayer, steward_signer using (true) with check (true);
grant select, insert on wallet to steward_api;
grant select on wallet to steward_worker, steward_signer;
grant select (id, address) on wallet to steward_relayer;
grant update (metadata) on wallet to steward_api, steward_worker;

-- Private keys, HPKE-sealed to a kek. The API can insert them but not read them. Only the signer reads.
create table wallet_secret (
  wallet_id text primary key references wallet,
  kek_id text not null references kek,
  sealed bytea not null
);
alter table wallet_secret enable row level security;
create policy own_account on wallet_secret to steward_api
  with check ((select true from wallet w where (w.id = wallet_secret.wallet_id)));
create policy all_accounts on wallet_secret to steward_signer using (true);
grant insert on wallet_secret to steward_api;
grant select on wallet_secret to steward_signer;

-- The account that POST /v1/demo/fund pays from.
create table treasury (
  address text primary key,
  kek_id text not null references kek,
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index treasury_one on treasury ((true));
grant select, insert on treasury to steward_signer;
grant select (address, created_at) on treasury to steward_worker, steward_api;
grant select (address) on treasury to steward_relayer;

-- Counts new wallets per account and emits wallet.created.
create function follow_wallets() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update account a set wallets = a.wallets + made.count
  from (select account_id, count(*)::int from made group by account_id) made where a.id = made.account_id;
  insert into intent_event (account_id, wallet_id, type, data)
  select account_id, id, 'wallet.created', json_build_object('userId', user_id, 'address', address) from made;
  return null;
end $$;
create trigger wallet_created after insert on wallet
  referencing new table as made for each statement execute function follow_wallets();
