/** The functions of 0027 by which the API signs somebody in before it knows his account. */
export const signingIn = `
-- Counts an attempt. Returns the seconds until the window ends when it has had more than its limit, else null.
create function count_attempt(p_subject text, p_limit int) returns int language plpgsql as $$
declare w sign_in_window;
begin
  insert into sign_in_window as x (subject, ends_at, attempts)
  values (sha256(convert_to(p_subject, 'UTF8')), clock_timestamp() + interval '15 minutes', 1)
  on conflict (subject) do update set
    attempts = case when x.ends_at <= clock_timestamp() then 1 else x.attempts + 1 end,
    ends_at = case when x.ends_at <= clock_timestamp() then excluded.ends_at else x.ends_at end
  returning * into w;
  if w.attempts <= p_limit then return null; end if;
  return greatest(1, ceil(extract(epoch from w.ends_at - clock_timestamp())));
end $$;

-- Counts an attempt to sign in before its password is looked at, so that attempts at once are counted too, and
-- finds whose password it would have to be. Many wrong passwords for an e-mail from everywhere do not keep out
-- whoever comes from an address at which this e-mail has signed in.
create function begin_sign_in(p_email text, p_address text)
returns table (user_id text, password_hash text, retry_after int)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_pair int;
  v_address int;
  v_email int;
begin
  delete from sign_in_window where subject in (select w.subject from sign_in_window w
    where w.ends_at < clock_timestamp() - interval '1 hour' order by w.ends_at limit 10 for update skip locked);
  v_pair := count_attempt('pair ' || p_email || ' ' || p_address, 10);
  v_address := count_attempt('address ' || p_address, 50);
  v_email := count_attempt('email ' || p_email, 100);
  select u.id, u.password_hash into user_id, password_hash from app_user u where u.email = p_email;
  if exists (select from user_session s where s.user_id = begin_sign_in.user_id and s.address = p_address) then
    v_email := null;
  end if;
  retry_after := greatest(v_pair, v_address, v_email);
  if retry_after is not null then
    user_id := null;
    password_hash := null;
  end if;
  return next;
end $$;

-- Takes back what a sign-in counted that went well.
create function end_sign_in(p_email text, p_address text) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from sign_in_window where subject = sha256(convert_to('pair ' || p_email || ' ' || p_address, 'UTF8'));
  update sign_in_window set attempts = greatest(0, attempts - 1)
  where subject = sha256(convert_to('address ' || p_address, 'UTF8'));
  update sign_in_window set attempts = greatest(0, attempts - 1)
  where subject = sha256(convert_to('email ' || p_email, 'UTF8'));
$$;

-- Opens a session in the account that is named, else in the one that the user was in last. False: the user is a
-- member of no such account.
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

-- Who has this session, in which account and as what; and may he ask now? No row: 401. Definer: the account is
-- not known before, so that no row policy can name it. Locks in the order user, account, session.
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
    perform save_account(a);
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

-- Sets a password and ends all sessions of the user but the one that asks.
create function change_password(p_user text, p_session text, p_password_hash text) returns void
language sql security definer set search_path = public, pg_temp as $$
  update app_user set password_hash = p_password_hash where id = p_user;
  update user_session set ended_at = clock_timestamp()
  where user_id = p_user and id <> p_session and ended_at is null;
$$;

-- What an open invitation is for; no row when it was used, replaced or has expired.
create function find_invitation(p_token_hash bytea)
returns table (account_id text, account_name text, email text, role text, expires_at timestamptz, is_known boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select i.account_id, a.name, i.email, i.role, i.expires_at,
    exists (select from app_user u where u.email = i.email)
  from invitation i join account a on a.id = i.account_id
  where i.token_hash = p_token_hash and i.accepted_at is null and i.ended_at is null
    and i.expires_at > clock_timestamp()
$$;

-- Uses an invitation, once: its row is locked. A user who is new comes with a password. Null: it was used,
-- replaced, has expired, or is for another e-mail.
create function accept_invitation(p_token_hash bytea, p_user text, p_email text, p_name text, p_password_hash text)
returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare i invitation;
begin
  select * into i from invitation x where x.token_hash = p_token_hash and x.accepted_at is null
    and x.ended_at is null and x.expires_at > clock_timestamp() and coalesce(x.email, p_email) = p_email
  for update;
  if not found then return null; end if;
  if p_password_hash is not null then
    insert into app_user (id, email, name, password_hash) values (p_user, p_email, p_name, p_password_hash);
  end if;
  update app_user set is_operator = true where id = p_user and i.is_operator;
  insert into membership (account_id, user_id, role) values (i.account_id, p_user, i.role)
  on conflict do nothing;
  update invitation set accepted_at = clock_timestamp(), accepted_by = p_user where id = i.id;
  insert into member_act (account_id, user_id, action, subject, detail)
  values (i.account_id, p_user, 'member join', i.id, i.role);
  return i.account_id;
end $$;
revoke execute on function count_attempt, begin_sign_in, end_sign_in, open_session, admit_session, end_session,
  change_password, find_invitation, accept_invitation from public;
grant execute on function begin_sign_in, end_sign_in, open_session, admit_session, end_session,
  change_password, find_invitation, accept_invitation to steward_api;
`
