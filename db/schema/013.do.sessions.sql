-- Sessions of users, and limits of sign-in attempts.

create table user_session (
  id text primary key,
  -- SHA-256 of the token. The token itself is never stored.
  token_hash bytea not null check (octet_length(token_hash) = 32) unique,
  user_id text not null references app_user,
  account_id text not null references account,
  created_at timestamptz not null default clock_timestamp(),
  -- Precise to the minute. A session expires after seven days without use.
  last_seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null default clock_timestamp() + interval '30 days',
  ended_at timestamptz,
  user_agent text not null,
  address text not null
);
create index user_session_user on user_session (user_id, id);
create index user_session_expiry on user_session (expires_at);
alter table user_session enable row level security;

-- The session of a token. One that ended in this transaction still counts: its member may have ended it.
create function session_of(p_token_hash bytea) returns user_session
language sql stable security definer set search_path = public, pg_temp as $$
  select s from user_session s where s.token_hash = p_token_hash and (s.ended_at is null or s.ended_at >= now())
    and s.expires_at > now() and s.last_seen_at > now() - interval '7 days'
$$;

-- The member on whose behalf a dashboard call runs. app.session has the digest of their session's token in hex, and
-- the session decides who they are. Null: no session, or one in another account than app.account.
create function current_member() returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select s.user_id from session_of(decode(nullif(current_setting('app.session', true), ''), 'hex')) s
  where s.account_id = coalesce(current_account(true), s.account_id)
$$;
grant execute on function current_member to steward_api;

create policy invited on invitation for insert to steward_api
  with check (account_id = current_account((select true)) and invited_by = current_member());

create policy own_sessions on user_session to steward_api using (user_id = current_member());
grant select (id, user_id, account_id, created_at, last_seen_at, expires_at, ended_at, user_agent, address) on
  user_session to steward_api;
grant update (ended_at) on user_session to steward_api;

create table sign_in_attempts (
  -- SHA-256 of the limited subject: an address, an e-mail address, or the pair of both.
  subject bytea primary key,
  ends_at timestamptz not null,
  attempts int not null
);
create index sign_in_attempts_end on sign_in_attempts (ends_at);
alter table sign_in_attempts enable row level security;

-- Counts an attempt. Returns the seconds until the window ends when the limit is exceeded, else null.
create function count_attempt(p_subject text, p_limit int) returns int language plpgsql as $$
declare w sign_in_attempts;
begin
  insert into sign_in_attempts as x (subject, ends_at, attempts)
  values (sha256(convert_to(p_subject, 'UTF8')), clock_timestamp() + interval '15 minutes', 1)
  on conflict (subject) do update set
    attempts = case when x.ends_at <= clock_timestamp() then 1 else x.attempts + 1 end,
    ends_at = case when x.ends_at <= clock_timestamp() then excluded.ends_at else x.ends_at end
  returning * into w;
  if w.attempts <= p_limit then return null; end if;
  return greatest(1, ceil(extract(epoch from w.ends_at - clock_timestamp())));
end $$;

-- True when a user with this e-mail has signed in from this network address, by the kept sessions. They are deleted
-- 30 days after their expiry.
create function knows_address(p_email text, p_address text) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select from app_user u join user_session s on s.user_id = u.id
    where u.email = p_email and s.address = p_address)
$$;

-- Counts a sign-in attempt before the password is checked, so that parallel attempts count too. Returns the password
-- hashes to check, at most ten: those of members first, the oldest first. A known pair of e-mail and network address has a limit of its own: neither an attacker elsewhere nor
-- one behind the same address locks the user out.
create function begin_sign_in(p_email text, p_address text)
returns table (user_id text, password_hash text, retry_after int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_pair int;
  v_address int;
  v_email int;
begin
  delete from sign_in_attempts where subject in (select w.subject from sign_in_attempts w
    where w.ends_at < clock_timestamp() - interval '1 hour' order by w.ends_at limit 10 for update skip locked);
  v_pair := count_attempt('pair ' || p_email || ' ' || p_address, 10);
  v_address := count_attempt('address ' || p_address, 50);
  v_email := count_attempt('email ' || p_email, 100);
  if knows_address(p_email, p_address) then
    v_address := null;
    v_email := null;
  end if;
  retry_after := greatest(v_pair, v_address, v_email);
  if retry_after is not null then
    return next;
    return;
  end if;
  for user_id, password_hash in
    select u.id, u.password_hash from app_user u where u.email = p_email
    order by exists (select from membership m where m.user_id = u.id) desc, u.created_at, u.id limit 10
  loop
    return next;
  end loop;
end $$;

-- Removes the counts of a successful sign-in.
create function end_sign_in(p_email text, p_address text) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from sign_in_attempts where subject = sha256(convert_to('pair ' || p_email || ' ' || p_address, 'UTF8'));
  update sign_in_attempts set attempts = greatest(0, attempts - 1)
  where subject = sha256(convert_to('address ' || p_address, 'UTF8'));
  update sign_in_attempts set attempts = greatest(0, attempts - 1)
  where subject = sha256(convert_to('email ' || p_email, 'UTF8'));
$$;

-- Opens a session in the named account, else in the most recently used one. False: the user is not a member of the
-- named account, or of any.
create function open_session(p_id text, p_user text, p_account text, p_token_hash bytea, p_agent text,
  p_address text)
returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from user_session where id in (select s.id from user_session s
    where s.expires_at < clock_timestamp() - interval '30 days' order by s.expires_at limit 10
    for update skip locked);
  insert into user_session (id, token_hash, user_id, account_id, user_agent, address)
  select p_id, p_token_hash, m.user_id, m.account_id, p_agent, p_address from membership m
  where m.user_id = p_user and (p_account is null or m.account_id = p_account)
  order by (select max(s.last_seen_at) from user_session s
    where s.user_id = m.user_id and s.account_id = m.account_id) desc nulls last, m.created_at
  limit 1;
  return found;
end $$;

-- Authenticates a session and counts the call against the rate limit. No row: 401. Definer: no row policy can name
-- the account before it is known. Locks in the order user, account, session.
create function admit_session(p_token_hash bytea, p_request text, p_limit int)
returns table (session_id text, user_id text, email text, name text, is_operator boolean, account_id text,
  account_name text, plan text, role text, balance bigint, win_used int, reset_at bigint, retry_after int, code int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  s user_session;
  u app_user;
  a account;
  v_now bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  select * into s from user_session x where x.token_hash = p_token_hash and x.ended_at is null
    and x.expires_at > clock_timestamp() and x.last_seen_at > clock_timestamp() - interval '7 days';
  if not found then return; end if;
  select m.role into role from membership m where m.user_id = s.user_id and m.account_id = s.account_id;
  if not found then return; end if;
  select * into u from app_user x where x.id = s.user_id for no key update;
  v_now := floor(extract(epoch from clock_timestamp()));
  if v_now / 60 > u.win or v_now / 60 < u.win - 1 then
    u.win := v_now / 60;
    u.win_used := 0;
  end if;
  if u.win_used >= p_limit then
    code := 429;
  else
    code := 200;
    u.win_used := u.win_used + 1;
    update app_user x set win = u.win, win_used = u.win_used where x.id = u.id;
  end if;
  select * into a from account x where x.id = s.account_id;
  if a.suspended_at is not null then
    if code = 200 then code := 423; end if;
  elsif a.period < current_period() then
    select * into a from account x where x.id = s.account_id for no key update;
    a := renew_credits(a, p_request);
    update account x set period = a.period, granted = a.granted where x.id = a.id;
  end if;
  if s.last_seen_at < clock_timestamp() - interval '1 minute' then
    update user_session x set last_seen_at = clock_timestamp()
    where x.id = s.id and x.last_seen_at = s.last_seen_at;
  end if;
  session_id := s.id;
  user_id := u.id;
  email := u.email;
  name := u.name;
  is_operator := u.is_operator;
  account_id := a.id;
  account_name := a.name;
  plan := a.plan;
  balance := a.granted + a.purchased;
  win_used := u.win_used;
  reset_at := (u.win + 1) * 60;
  retry_after := greatest(1, reset_at - v_now);
  return next;
end $$;

-- Ends the session of a token.
create function end_session(p_token_hash bytea) returns void
language sql security definer set search_path = public, pg_temp as $$
  update user_session set ended_at = clock_timestamp() where token_hash = p_token_hash and ended_at is null;
$$;

-- Sets the password of the user of a session, and ends their other sessions.
create function change_password(p_token_hash bytea, p_password_hash text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare s user_session := session_of(p_token_hash);
begin
  update app_user set password_hash = p_password_hash where id = s.user_id;
  update user_session x set ended_at = clock_timestamp()
  where x.user_id = s.user_id and x.id <> s.id and x.ended_at is null;
end $$;

-- Returns the given sessions that are still valid.
create function live_sessions(p_sessions text[]) returns setof text
language sql stable security definer set search_path = public, pg_temp as $$
  select s.id from user_session s
  join membership m on m.user_id = s.user_id and m.account_id = s.account_id
  join account a on a.id = s.account_id
  where s.id = any (p_sessions) and s.ended_at is null and s.expires_at > clock_timestamp()
    and s.last_seen_at > clock_timestamp() - interval '7 days' and a.suspended_at is null
$$;

-- Replaces a session by a new one in another account of the user, with the same expiry. False: the session has ended,
-- or the user is not a member of that account.
create function switch_session(p_token_hash bytea, p_account text, p_id text, p_new_hash bytea)
returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
declare s user_session;
begin
  update user_session x set ended_at = clock_timestamp()
  where x.token_hash = p_token_hash and x.ended_at is null and x.expires_at > clock_timestamp()
    and exists (select from membership m where m.user_id = x.user_id and m.account_id = p_account)
  returning * into s;
  if not found then return false; end if;
  insert into user_session (id, token_hash, user_id, account_id, expires_at, user_agent, address)
  values (p_id, p_new_hash, s.user_id, p_account, s.expires_at, s.user_agent, s.address);
  return true;
end $$;

grant execute on function knows_address, begin_sign_in, end_sign_in, open_session, admit_session, end_session,
  change_password, live_sessions, switch_session to steward_api;
