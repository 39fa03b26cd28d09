/** Events as they happen: who is woken by them, what they are found by, and tokens that a browser may hold. */
export const liveEvents = `
alter table intent_event add column wallet_id text;
comment on column intent_event.wallet_id is 'Of the intent, so that the story of one wallet is found by an index.';
update intent_event e set wallet_id = i.wallet_id from intent i where i.id = e.intent_id;
create index intent_event_wallet on intent_event (wallet_id, xact, id);
create index intent_event_type on intent_event (account_id, type, xact, id);

create function place_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  select i.wallet_id into new.wallet_id from intent i where i.id = new.intent_id;
  return new;
end $$;
create trigger intent_event_place before insert on intent_event
  for each row execute function place_event();

-- Who listens hears of an account once for each transaction: the server drops what one says twice.
create function announce_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_notify('intent_event', t.account_id) from (select distinct account_id from told) t;
  return null;
end $$;
create trigger intent_event_told after insert on intent_event
  referencing new table as told for each statement execute function announce_events();

create table read_token (
  token_hash bytea primary key,
  account_id text not null references account,
  intent_id text not null references intent,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at <= created_at + interval '16 minutes'),
  win bigint not null default 0,
  win_used int not null default 0
);
create index read_token_expiry on read_token (expires_at);
comment on table read_token is
  'Opens one intent to whoever holds it, to read, for some minutes. The token itself is never stored.';
comment on column read_token.token_hash is 'SHA-256 of the token.';
comment on column read_token.win is 'Clock minute in which it was used last, and in win_used how often.';
alter table read_token enable row level security;
create policy own_account on read_token for insert to steward_api with check (account_id = current_account());
create policy all_accounts on read_token to steward_worker using (true);
grant insert (token_hash, account_id, intent_id, expires_at) on read_token to steward_api;
grant select (token_hash, expires_at), delete on read_token to steward_worker;

-- Finds a live token and counts its use. No row: unknown, expired, or of an account that is suspended.
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

-- Of the given digests of keys and read tokens those that would be let in to read, unless their minute is full.
create function live_callers(p_digests bytea[]) returns setof bytea
language sql stable security definer set search_path = public, pg_temp as $$
  select k.key_hash from api_key k join account a on a.id = k.account_id
  where k.key_hash = any (p_digests) and k.revoked_at is null and 'read' = any (k.scopes)
    and (k.expires_at is null or k.expires_at > clock_timestamp()) and a.suspended_at is null
  union all
  select t.token_hash from read_token t join account a on a.id = t.account_id
  where t.token_hash = any (p_digests) and t.expires_at > clock_timestamp() and a.suspended_at is null
$$;

revoke execute on function place_event, announce_events, admit_token, live_callers from public;
grant execute on function admit_token, live_callers to steward_api;
`
