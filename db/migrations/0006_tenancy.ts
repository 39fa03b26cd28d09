const keptAnswers = `
create table idempotency_key (
  account_id text not null references account,
  endpoint text not null,
  key text not null,
  fingerprint bytea not null,
  status int not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, endpoint, key)
);
comment on table idempotency_key is 'Written in the transaction whose effect it protects: request and answer are one.';
comment on column idempotency_key.fingerprint is 'SHA-256 of the validated body.';
comment on column idempotency_key.body is 'The answer as it was sent, not as the resource is today.';

grant select, insert on idempotency_key to steward_api;
grant update (status, body) on idempotency_key to steward_api;
grant select, delete on idempotency_key to steward_worker;

-- The first wall is the account in every query. This one holds when a query forgets it: the API sees the rows
-- of the account that its statement names by app.account, and none without.
create function current_account() returns text language sql stable as
  $$ select nullif(current_setting('app.account', true), '') $$;

-- The API starts workflows outside of the transaction that names the account.
create function mark_dispatched(p_id text) returns void
language sql security definer set search_path = public, pg_temp as $$
  update intent set dispatched_at = clock_timestamp() where id = p_id;
  update funding set dispatched_at = clock_timestamp() where id = p_id;
$$;
revoke execute on function mark_dispatched from public;
grant execute on function mark_dispatched to steward_api, steward_worker;
grant execute on function current_account to steward_api, steward_worker, steward_signer;
`

const ownTables = [
  'wallet',
  'intent',
  'funding',
  'operation',
  'ledger',
  'idempotency_key',
  'api_key',
]

const walls = ownTables.map(
  (table) => `
alter table ${table} enable row level security;
create policy own_account on ${table} to steward_api
  using (account_id = current_account()) with check (account_id = current_account());
create policy all_accounts on ${table} to steward_worker, steward_signer using (true) with check (true);`,
)

/** Answers that are kept for replays, and the second wall between accounts. */
export const tenancy = `${keptAnswers}${walls.join('\n')}
alter table account enable row level security;
create policy own_account on account to steward_api using (id = current_account());
create policy all_accounts on account to steward_worker, steward_signer using (true);
alter table reservation enable row level security;
create policy own_account on reservation to steward_api
  using (wallet_id in (select id from wallet)) with check (wallet_id in (select id from wallet));
create policy all_accounts on reservation to steward_worker, steward_signer using (true) with check (true);
alter table wallet_secret enable row level security;
create policy own_account on wallet_secret to steward_api with check (wallet_id in (select id from wallet));
create policy all_accounts on wallet_secret to steward_signer using (true);
`
