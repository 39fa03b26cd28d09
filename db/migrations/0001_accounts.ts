/** Who may call the API. */
export const accounts = `
create table deployment (
  only_row boolean primary key default true check (only_row),
  network text not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table deployment is 'The network this database belongs to. Another one is refused at boot.';

create table account (
  id text primary key,
  name text not null,
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  created_at timestamptz not null default clock_timestamp()
);

create table api_key (
  id text primary key,
  account_id text not null references account,
  name text not null,
  key_hash bytea not null unique check (octet_length(key_hash) = 32),
  last_four text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz
);
comment on column api_key.key_hash is 'SHA-256 of the key. The key itself is never stored.';

grant select on deployment, account, api_key to steward_api;
grant select on deployment, account to steward_worker, steward_signer;
`
