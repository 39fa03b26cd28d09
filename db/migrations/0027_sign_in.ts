import { signingIn } from './0027_signing_in.js'
import { staying } from './0027_staying.js'

const people = `
create table app_user (
  id text primary key,
  email text not null check (email = lower(email) and email <> ''),
  name text not null check (name <> ''),
  password_hash text not null,
  is_operator boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  win bigint not null default 0,
  win_used int not null default 0
) with (fillfactor = 50);
create unique index app_user_email on app_user (email);
comment on table app_user is 'Somebody who signs in to the dashboard. An end user of an account is not one: he has a wallet.';
comment on column app_user.password_hash is 'Argon2id with its parameters and salt, in PHC string format.';
comment on column app_user.is_operator is 'Runs this deployment, besides being a member of accounts.';
comment on column app_user.win is 'The clock minute (Unix time / 60) that win_used counts.';

create table membership (
  account_id text not null references account,
  user_id text not null references app_user,
  role text not null check (role in ('owner', 'developer', 'viewer')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, user_id)
);
create index membership_user on membership (user_id);

create table user_session (
  id text primary key,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  user_id text not null references app_user,
  account_id text not null references account,
  created_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null default clock_timestamp() + interval '30 days',
  ended_at timestamptz,
  user_agent text not null,
  address text not null
);
create index user_session_user on user_session (user_id, id);
create index user_session_expiry on user_session (expires_at);
comment on column user_session.token_hash is 'SHA-256 of the token. The token itself is never stored.';
comment on column user_session.last_seen_at is 'To the minute. A session that is not used for seven days is over.';

create table invitation (
  id text primary key,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  account_id text not null references account,
  email text check (email = lower(email) and email <> ''),
  role text not null check (role in ('owner', 'developer', 'viewer')),
  is_operator boolean not null default false,
  invited_by text references app_user,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  accepted_at timestamptz,
  accepted_by text references app_user,
  check ((accepted_at is null) = (accepted_by is null))
);
create unique index invitation_open on invitation (account_id, coalesce(email, ''))
  where accepted_at is null and ended_at is null;
comment on column invitation.token_hash is 'SHA-256 of the token. The token itself is never stored.';
comment on column invitation.email is 'Null: whoever has the link says his own.';
comment on column invitation.is_operator is 'Only the owner of the database invites operators.';

create table member_act (
  id bigint generated always as identity primary key,
  account_id text not null references account,
  user_id text not null references app_user,
  at timestamptz not null default clock_timestamp(),
  action text not null,
  subject text not null,
  detail text
);
create index member_act_account on member_act (account_id, id);
comment on table member_act is 'What members have done to keys and members of their account. Append-only.';
create trigger member_act_kept before update or delete or truncate on member_act
  for each statement execute function refuse_change();

create table sign_in_window (
  subject bytea primary key,
  ends_at timestamptz not null,
  attempts int not null
);
create index sign_in_window_end on sign_in_window (ends_at);
comment on column sign_in_window.subject is 'SHA-256 of what is counted: an address, an e-mail, or both together.';
`

const members = `
create function current_member() returns text language sql stable as
  $$ select nullif(current_setting('app.member', true), '') $$;
grant execute on function current_member to steward_api;

-- An account that has an owner keeps one, whoever changes its members. Definer: it locks the account, which
-- decides between two owners who demote each other.
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
create trigger membership_owner before update of role or delete on membership
  for each row execute function keep_owner();

-- Definer: a member's acts can be written, and neither read back nor changed.
create function note_act(p_action text, p_subject text, p_detail text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into member_act (account_id, user_id, action, subject, detail)
  values (current_account(), current_member(), p_action, p_subject, p_detail);
end $$;

-- Arguments: the act, the column of what it is done to, the column of its detail. Whatever the API changes is
-- changed by a member: without one it is refused.
create function note_member_act() returns trigger language plpgsql as $$
declare v_row jsonb;
begin
  if current_user <> 'steward_api' then return null; end if;
  v_row := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
  perform note_act(tg_argv[0], v_row ->> tg_argv[1], v_row ->> tg_argv[2]);
  return null;
end $$;
create trigger api_key_made after insert on api_key
  for each row execute function note_member_act('key create', 'id', 'name');
create trigger api_key_shortened after update of expires_at on api_key
  for each row execute function note_member_act('key shorten', 'id', 'expires_at');
create trigger api_key_revoked after update of revoked_at on api_key
  for each row execute function note_member_act('key revoke', 'id', 'name');
create trigger invitation_made after insert on invitation
  for each row execute function note_member_act('member invite', 'id', 'email');
create trigger invitation_withdrawn after update of ended_at on invitation
  for each row execute function note_member_act('member uninvite', 'id', 'email');
create trigger membership_changed after update of role on membership
  for each row execute function note_member_act('member role', 'user_id', 'role');
create trigger membership_ended after delete on membership
  for each row execute function note_member_act('member remove', 'user_id', 'role');
revoke execute on function keep_owner, note_act, note_member_act from public;
grant execute on function note_act to steward_api;

alter table app_user enable row level security;
alter table membership enable row level security;
alter table user_session enable row level security;
alter table invitation enable row level security;
alter table member_act enable row level security;
alter table sign_in_window enable row level security;
create policy own_account on membership to steward_api using (account_id = current_account())
  with check (account_id = current_account());
create policy own_account on invitation to steward_api using (account_id = current_account())
  with check (account_id = current_account());
create policy own_account on member_act for select to steward_api using (account_id = current_account());
create policy members on app_user for select to steward_api using (id in (select user_id from membership));
create policy own_sessions on user_session to steward_api using (user_id = current_member());
grant select on membership, member_act to steward_api;
grant update (role), delete on membership to steward_api;
grant select (id, email, name, is_operator, created_at) on app_user to steward_api;
grant select (id, user_id, account_id, created_at, last_seen_at, expires_at, ended_at, user_agent, address),
  update (ended_at) on user_session to steward_api;
grant select (id, account_id, email, role, invited_by, created_at, expires_at, ended_at, accepted_at, accepted_by),
  insert (id, token_hash, account_id, email, role, invited_by, expires_at), update (ended_at)
  on invitation to steward_api;

-- Members make and end keys of their account. A key that is over stays so.
drop policy own_account on api_key;
create policy own_account on api_key for select to steward_api using (account_id = current_account());
create policy made on api_key for insert to steward_api with check (account_id = current_account());
create policy alive on api_key for update to steward_api
  using (account_id = current_account() and revoked_at is null
    and (expires_at is null or expires_at > clock_timestamp()))
  with check (account_id = current_account());
grant insert (id, account_id, name, key_hash, prefix, last_four, scopes, expires_at), update (revoked_at, expires_at)
  on api_key to steward_api;
`

/** Who signs in to the dashboard, to which accounts, and what he may do there. */
export const signIn = `${people}${members}${signingIn}${staying}`
