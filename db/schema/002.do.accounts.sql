-- Accounts, API keys, read tokens, and stored responses of idempotent calls.

create table account (
  id text primary key,
  name text not null,
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  created_at timestamptz not null default clock_timestamp(),
  rpm int not null default 100 check (rpm > 0),
  max_wallets int check (max_wallets >= 0),
  monthly_credits bigint not null default 100 check (monthly_credits >= 0),
  -- The clock minute (Unix time / 60) that win_used counts.
  win bigint not null default 0,
  win_used int not null default 0,
  -- The month (YYYYMM, UTC) that granted belongs to.
  period int not null default 0,
  -- Remaining monthly credits. They lapse at the end of the month.
  granted bigint not null default 0 check (granted >= 0),
  -- Remaining purchased credits. They never lapse.
  purchased bigint not null default 0 check (purchased >= 0),
  total_purchased bigint not null default 0,
  total_used bigint not null default 0,
  -- Set while the account is suspended: its keys are rejected, its running intents continue.
  suspended_at timestamptz,
  -- The highest warning emitted since the last top-up: 1 for credits.low, 2 for credits.exhausted. New credits lower it.
  credits_warning smallint not null default 0 check (credits_warning >= 0 and credits_warning <= 2),
  -- Number of wallets of the account.
  wallets int not null default 0 check (wallets >= 0)
) with (fillfactor = 50);
alter table account enable row level security;
create policy own_account on account to steward_api using (id = current_account((select true)));
create policy all_accounts on account to steward_worker, steward_signer using (true);
grant select on account to steward_api, steward_worker, steward_signer;

create table api_key (
  id text primary key,
  account_id text not null references account,
  name text not null,
  -- SHA-256 of the key. The key itself is never stored.
  key_hash bytea not null check (octet_length(key_hash) = 32) unique,
  last_four text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  prefix text not null default 'svc_sk_',
  scopes text[] not null default '{read,write}' check ((scopes <@ '{read,write}') and cardinality(scopes) > 0),
  last_used_at timestamptz
);
alter table api_key enable row level security;
create policy all_accounts on api_key to steward_worker, steward_signer using (true) with check (true);
create policy own_account on api_key for select to steward_api using (account_id = current_account((select true)));
create policy made on api_key for insert to steward_api with check (account_id = current_account((select true)));
create policy alive on api_key for update to steward_api
  using (account_id = current_account((select true)) and revoked_at is null and (expires_at is null or expires_at > clock_timestamp()))
  with check (account_id = current_account((select true)));
grant select on api_key to steward_api;
grant insert (id, account_id, name, key_hash, last_four, expires_at, prefix, scopes) on api_key to steward_api;
grant update (expires_at, revoked_at) on api_key to steward_api;

-- Grants read access to one intent for some minutes. The token itself is never stored.
create table read_token (
  -- SHA-256 of the token.
  token_hash bytea primary key,
  account_id text not null references account,
  intent_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- The clock minute (Unix time / 60) that win_used counts.
  win bigint not null default 0,
  win_used int not null default 0,
  constraint read_token_check check (expires_at <= (created_at + interval '00:16:00'))
);
create index read_token_expiry on read_token (expires_at);
alter table read_token enable row level security;
create policy own_account on read_token for insert to steward_api
  with check (account_id = current_account((select true)));
create policy all_accounts on read_token for select to steward_worker using (true);
create policy expired on read_token for delete to steward_worker using (expires_at <= clock_timestamp());
grant delete on read_token to steward_worker;
grant insert (token_hash, account_id, intent_id, expires_at) on read_token to steward_api;
grant select (token_hash, expires_at) on read_token to steward_worker;

-- Inserted in the transaction of the effect that it protects: the effect and its response commit together.
create table idempotency_key (
  account_id text references account,
  endpoint text,
  key text,
  -- SHA-256 of the validated body.
  fingerprint bytea not null,
  status int not null,
  -- The response as it was sent, not the current state of the resource.
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- After this time the key counts as unused, even before its row is deleted. Null: never.
  expires_at timestamptz,
  primary key (account_id, endpoint, key)
);
create index idempotency_key_expiry on idempotency_key (expires_at) where expires_at is not null;
alter table idempotency_key enable row level security;
create policy own_account on idempotency_key to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on idempotency_key for select to steward_worker using (true);
create policy expired on idempotency_key for delete to steward_worker using (expires_at <= clock_timestamp());
grant select, insert on idempotency_key to steward_api;
grant select, delete on idempotency_key to steward_worker;
grant update (fingerprint, status, body, created_at, expires_at) on idempotency_key to steward_api;

-- Finds a valid token and counts its use. No row when it is unknown or expired, or its account is suspended.
create function admit_token(p_token bytea)
returns table (account_id text, intent_id text, plan text, used int, reset_at bigint, retry_after int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now bigint := floor(extract(epoch from clock_timestamp()));
begin
  perform set_config('synchronous_commit', 'off', true);
  return query
    update read_token t set win = v_now / 60,
      win_used = case when t.win = v_now / 60 then t.win_used + 1 else 1 end
    from account a
    where t.token_hash = p_token and t.expires_at > clock_timestamp()
      and a.id = t.account_id and a.suspended_at is null
    returning t.account_id, t.intent_id, a.plan, t.win_used, (v_now / 60 + 1) * 60,
      greatest(1, (v_now / 60 + 1) * 60 - v_now)::int;
end $$;

-- Returns the digests of API keys and read tokens that may still read. Rate limits are ignored.
create function live_callers(p_digests bytea[]) returns setof bytea
language sql stable security definer set search_path = public, pg_temp as $$
  select k.key_hash from api_key k join account a on a.id = k.account_id
  where k.key_hash = any (p_digests) and k.revoked_at is null and 'read' = any (k.scopes)
    and (k.expires_at is null or k.expires_at > clock_timestamp()) and a.suspended_at is null
  union all
  select t.token_hash from read_token t join account a on a.id = t.account_id
  where t.token_hash = any (p_digests) and t.expires_at > clock_timestamp() and a.suspended_at is null
$$;

-- Returns the digests of API keys, read tokens and sessions that are still valid. Suspensions and limits are ignored.
create function valid_credentials(p_digests bytea[]) returns setof bytea
language sql stable security definer set search_path = public, pg_temp as $$
  select k.key_hash from api_key k
  where k.key_hash = any (p_digests) and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())
  union all
  select t.token_hash from read_token t where t.token_hash = any (p_digests) and t.expires_at > clock_timestamp()
  union all
  select s.token_hash from user_session s
  join membership m on m.user_id = s.user_id and m.account_id = s.account_id
  where s.token_hash = any (p_digests) and s.ended_at is null and s.expires_at > clock_timestamp()
    and s.last_seen_at > clock_timestamp() - interval '7 days'
$$;

-- Locks an account until the end of the transaction. Concurrent charges and counts of its resources wait.
create function lock_account(p_account text) returns void
language sql security definer set search_path = public, pg_temp as
  $$ select from account a where a.id = p_account for no key update $$;

grant execute on function admit_token, live_callers, valid_credentials, lock_account to steward_api;
