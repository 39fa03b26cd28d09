/** Which of those who are signed in may stay. */
export const staying = `
-- Of the given sessions those whose users would be let in still.
create function live_sessions(p_sessions text[]) returns setof text
language sql stable security definer set search_path = public, pg_temp as $$
  select s.id from user_session s
  join membership m on m.user_id = s.user_id and m.account_id = s.account_id
  join account a on a.id = s.account_id
  where s.id = any (p_sessions) and s.ended_at is null and s.expires_at > clock_timestamp()
    and a.suspended_at is null
$$;
revoke execute on function live_sessions from public;
grant execute on function live_sessions to steward_api;
`
