/** Wallets, and their keys sealed to the signer. */
export const wallets = `
create table kek (
  id text primary key,
  public_key bytea not null,
  active boolean not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index kek_one_active on kek (active) where active;
comment on table kek is 'Public halves of the signer''s key encryption keys. The private half never leaves the signer.';

create table wallet (
  id text primary key,
  account_id text not null references account,
  user_id text not null,
  address text not null unique,
  metadata json not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (account_id, user_id)
);
comment on column wallet.metadata is 'json, not jsonb: the caller gets the object back as it was sent.';

create table wallet_secret (
  wallet_id text primary key references wallet,
  kek_id text not null references kek,
  sealed bytea not null
);
comment on table wallet_secret is 'Private keys, HPKE-sealed to a kek. The API inserts and cannot read; only the signer reads.';

create table treasury (
  address text primary key,
  kek_id text not null references kek,
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index treasury_one on treasury ((true));
comment on table treasury is 'The account that POST /v1/demo/fund pays from.';

grant select on kek to steward_api, steward_worker;
grant select, insert on kek to steward_signer;
grant select, insert on wallet to steward_api;
grant insert on wallet_secret to steward_api;
grant select on wallet to steward_worker, steward_signer;
grant select on wallet_secret to steward_signer;
grant select, insert on treasury to steward_signer;
grant select (address, created_at) on treasury to steward_worker, steward_api;
`
