/** Somebody who is a member of several accounts goes from one to the other without his password. */
export const accountsOfUsers = `
-- The accounts that a user is a member of. Definer: row policies let the API see one account at a time.
create function list_memberships(p_user text)
returns table (account_id text, account_name text, role text)
language sql stable security definer set search_path = public, pg_temp as $$
  select m.account_id, a.name, m.role from membership m join account a on a.id = m.account_id
  where m.user_id = p_user order by a.name, a.id
$$;

-- Ends a session and opens another one of its user in its place, in another of his accounts. It lasts no longer than
-- the first one would have. False: that one is over, or the user is no member there.
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

revoke execute on function list_memberships, switch_session from public;
grant execute on function list_memberships, switch_session to steward_api;
`
