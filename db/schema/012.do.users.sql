-- Users, memberships, invitations, and the audit log of members.

-- A user of the dashboard. End users of an account are wallets, not users.
create table app_user (
  id text primary key,
  -- Not unique: the service sends no mail, so that a user has not proven that the address is theirs. Users with the same
  -- address have their own passwords, and none of them blocks another. Within an account, addresses are unique.
  email text not null check (email = lower(email) and email <> ''),
  name text not null check (name <> ''),
  -- Argon2id with its parameters and salt, in PHC string format.
  password_hash text not null,
  -- An operator of this deployment. Operators can also be members of accounts.
  is_operator boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  -- The clock minute (Unix time / 60) that win_used counts.
  win bigint not null default 0,
  win_used int not null default 0
) with (fillfactor = 50);
create index app_user_email on app_user (email);
alter table app_user enable row level security;
grant select (id, email, name, is_operator, created_at) on app_user to steward_api;

create table membership (
  account_id text references account,
  user_id text references app_user,
  role text not null check (role in ('owner', 'developer', 'viewer')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, user_id)
);
create index membership_user on membership (user_id);
alter table membership enable row level security;
create policy own_account on membership to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
grant select, delete on membership to steward_api;
grant update (role) on membership to steward_api;

create policy members on app_user for select to steward_api
  using (id in (select membership.user_id from membership));

create table invitation (
  id text primary key,
  -- SHA-256 of the token. The token itself is never stored.
  token_hash bytea not null check (octet_length(token_hash) = 32) unique,
  account_id text not null references account,
  -- Null: the person with the link chooses their e-mail address.
  email text check (email = lower(email) and email <> ''),
  role text not null check (role in ('owner', 'developer', 'viewer')),
  -- Only the database owner can invite operators.
  is_operator boolean not null default false,
  invited_by text references app_user,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  accepted_at timestamptz,
  accepted_by text references app_user,
  constraint invitation_check check ((accepted_at is null) = (accepted_by is null))
);
create unique index invitation_open on invitation (account_id, COALESCE(email, ''::text))
  where accepted_at is null and ended_at is null;
alter table invitation enable row level security;
create policy own_account on invitation for select to steward_api
  using (account_id = current_account((select true)));
create policy ended on invitation for update to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
grant select (id, account_id, email, role, invited_by, created_at, expires_at, ended_at, accepted_at, accepted_by) on
  invitation to steward_api;
grant insert (id, token_hash, account_id, email, role, invited_by, expires_at) on invitation to steward_api;
grant update (ended_at) on invitation to steward_api;

-- Audit log of changes by members to keys and members of their account. Append-only.
create table member_action (
  id bigint generated always as identity primary key,
  account_id text not null references account,
  user_id text not null references app_user,
  at timestamptz not null default clock_timestamp(),
  action text not null,
  subject text not null,
  detail text
);
create index member_action_account on member_action (account_id, id);
alter table member_action enable row level security;
create policy own_account on member_action for select to steward_api
  using (account_id = current_account((select true)));
grant select on member_action to steward_api;

create trigger member_action_kept before delete or update or truncate on member_action
  for each statement execute function refuse_change();

-- Keeps at least one owner per account. Definer: it locks the account, so that two owners cannot demote each other
-- concurrently.
create function keep_owner() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if old.role = 'owner' and (tg_op = 'DELETE' or new.role <> 'owner') then
    perform from account x where x.id = old.account_id for no key update;
    if not exists (select from membership m where m.account_id = old.account_id and m.role = 'owner'
        and m.user_id <> old.user_id) then
      raise exception 'An account needs an owner.' using errcode = 'restrict_violation';
    end if;
  end if;
  if tg_op = 'UPDATE' then return new; end if;
  update user_session set ended_at = clock_timestamp()
  where user_id = old.user_id and account_id = old.account_id and ended_at is null;
  return old;
end $$;
create trigger membership_owner before delete or update of role on membership
  for each row execute function keep_owner();

-- Appends to the audit log of members. Arguments: the action, the column of its subject, the column of its detail. Every
-- change by the API is made by a member. Without one it is rejected. Definer: no role can write entries directly.
create function record_member_action() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_row jsonb := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
begin
  insert into member_action (account_id, user_id, action, subject, detail)
  values (current_account(true), current_member(), tg_argv[0], v_row ->> tg_argv[1], v_row ->> tg_argv[2]);
  return null;
end $$;
create trigger api_key_made after insert on api_key
  for each row when (current_user = 'steward_api') execute function record_member_action('key create', 'id', 'name');
create trigger api_key_shortened after update of expires_at on api_key
  for each row when (current_user = 'steward_api') execute function record_member_action('key shorten', 'id', 'expires_at');
create trigger api_key_revoked after update of revoked_at on api_key
  for each row when (current_user = 'steward_api') execute function record_member_action('key revoke', 'id', 'name');
create trigger invitation_made after insert on invitation
  for each row when (current_user = 'steward_api') execute function record_member_action('member invite', 'id', 'email');
create trigger invitation_withdrawn after update of ended_at on invitation
  for each row when (current_user = 'steward_api') execute function record_member_action('member uninvite', 'id', 'email');
create trigger membership_changed after update of role on membership
  for each row when (current_user = 'steward_api') execute function record_member_action('member role', 'user_id', 'role');
create trigger membership_ended after delete on membership
  for each row when (current_user = 'steward_api') execute function record_member_action('member remove', 'user_id', 'role');

-- Finds an open invitation. No row when it is used, replaced or expired.
create function find_invitation(p_token_hash bytea)
returns table (account_id text, account_name text, email text, role text, expires_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select i.account_id, a.name, i.email, i.role, i.expires_at
  from invitation i join account a on a.id = i.account_id
  where i.token_hash = p_token_hash and i.accepted_at is null and i.ended_at is null
    and i.expires_at > clock_timestamp()
$$;

-- Accepts an invitation once, under its row lock. A new user provides a password. Null: the invitation is used,
-- replaced, expired, or for another e-mail address. Error unique_violation: another member of the account has the
-- e-mail address.
create function accept_invitation(p_token_hash bytea, p_user text, p_email text, p_name text, p_password_hash text)
returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare i invitation;
begin
  select * into i from invitation x where x.token_hash = p_token_hash and x.accepted_at is null
    and x.ended_at is null and x.expires_at > clock_timestamp() and coalesce(x.email, p_email) = p_email
  for update;
  if not found then return null; end if;
  perform from account x where x.id = i.account_id for no key update;
  if exists (select from membership m join app_user u on u.id = m.user_id
      where m.account_id = i.account_id and u.email = p_email and u.id <> p_user) then
    raise exception 'Another member has this e-mail address.' using errcode = 'unique_violation';
  end if;
  if p_password_hash is not null then
    insert into app_user (id, email, name, password_hash) values (p_user, p_email, p_name, p_password_hash);
  end if;
  update app_user set is_operator = true where id = p_user and i.is_operator;
  insert into membership (account_id, user_id, role) values (i.account_id, p_user, i.role)
  on conflict do nothing;
  update invitation set accepted_at = clock_timestamp(), accepted_by = p_user where id = i.id;
  insert into member_action (account_id, user_id, action, subject, detail)
  values (i.account_id, p_user, 'member join', i.id, i.role);
  return i.account_id;
end $$;

-- One-time links with which a member chooses a new password. A new link replaces the previous one.
create table password_reset (
  user_id text primary key references app_user,
  -- SHA-256 of the token. The token itself is never stored.
  token_hash bytea not null check (octet_length(token_hash) = 32) unique,
  account_id text not null references account,
  -- Null: an operator, with the role of the database owner.
  made_by text references app_user,
  expires_at timestamptz not null default clock_timestamp() + interval '1 day'
);
alter table password_reset enable row level security;

-- Whether an owner of the account may reset the user's password: the user is a member of this account only, and no
-- operator. Otherwise the owner of one account could act in another one.
create function belongs_only_to(p_user text, p_account text) returns boolean language sql stable as $$
  select not exists (select from membership m where m.user_id = p_user and m.account_id <> p_account)
    and exists (select from membership m join app_user u on u.id = m.user_id
      where m.user_id = p_user and m.account_id = p_account and not u.is_operator)
$$;

-- The same for the account in scope. Definer: row policies show the API one account at a time.
create function belongs_only_here(p_user text) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select belongs_only_to(p_user, current_account(true))
$$;

-- Creates a link in the name of the session's member, an owner. False: the user also belongs elsewhere.
create function create_password_reset(p_token_hash bytea, p_user text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account text := current_account(true);
  v_owner text := current_member();
begin
  if not exists (select from membership m
      where m.account_id = v_account and m.user_id = v_owner and m.role = 'owner') then
    raise exception 'Only an owner resets passwords.' using errcode = 'insufficient_privilege';
  end if;
  if not belongs_only_to(p_user, v_account) then return false; end if;
  delete from password_reset r where r.user_id = p_user;
  insert into password_reset (user_id, token_hash, account_id, made_by)
  values (p_user, p_token_hash, v_account, v_owner);
  insert into member_action (account_id, user_id, action, subject, detail)
  select v_account, v_owner, 'password reset', u.id, u.email from app_user u where u.id = p_user;
  return true;
end $$;

-- Uses a link: sets the password and ends all sessions of the user. False: the link is used, replaced or expired, or
-- the user has joined another account since. The lock waits for an acceptance in progress.
create function use_password_reset(p_token_hash bytea, p_password_hash text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare r password_reset;
begin
  delete from password_reset x where x.token_hash = p_token_hash and x.expires_at > clock_timestamp() returning * into r;
  if not found then return false; end if;
  perform from app_user u where u.id = r.user_id for update;
  if r.made_by is not null and not belongs_only_to(r.user_id, r.account_id) then return false; end if;
  update app_user set password_hash = p_password_hash where id = r.user_id;
  update user_session set ended_at = clock_timestamp() where user_id = r.user_id and ended_at is null;
  insert into member_action (account_id, user_id, action, subject)
  values (r.account_id, r.user_id, 'password choose', r.user_id);
  return true;
end $$;

-- The accounts of a user. Definer: row policies show the API one account at a time.
create function list_memberships(p_user text)
returns table (account_id text, account_name text, role text)
language sql stable security definer set search_path = public, pg_temp as $$
  select m.account_id, a.name, m.role from membership m join account a on a.id = m.account_id
  where m.user_id = p_user order by a.name, a.id
$$;

grant execute on function belongs_only_here, create_password_reset, use_password_reset, find_invitation, accept_invitation, list_memberships to steward_api;
