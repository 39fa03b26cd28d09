/** What is over: streams of sessions that nobody has used, and sums of days that no chart reaches. */
export const expiry = `
-- Of the given sessions those whose users would be let in still.
create or replace function live_sessions(p_sessions text[]) returns setof text
language sql stable security definer set search_path = public, pg_temp as $$
  select s.id from user_session s
  join membership m on m.user_id = s.user_id and m.account_id = s.account_id
  join account a on a.id = s.account_id
  where s.id = any (p_sessions) and s.ended_at is null and s.expires_at > clock_timestamp()
    and s.last_seen_at > clock_timestamp() - interval '7 days' and a.suspended_at is null
$$;

create index request_day_age on request_day (day);
comment on table request_day is
  'Sums of request_log, added up in the statement that fills it. Kept for more than a year.';

-- Deletes at most so many sums of days more than p_days days ago, the oldest first, and says how many they were.
create function prune_request_days(p_days int, p_limit int) returns int
language sql security definer set search_path = public, pg_temp as $$
  with pruned as (
    delete from request_day where (account_id, day, caller_id, endpoint) in (
      select d.account_id, d.day, d.caller_id, d.endpoint from request_day d
      -- Stable within the statement, as an index asks of what it is searched by.
      where d.day < (statement_timestamp() at time zone 'UTC')::date - p_days
      order by d.day limit p_limit for update skip locked)
    returning 1)
  select count(*)::int from pruned
$$;
revoke execute on function prune_request_days from public;
grant execute on function prune_request_days to steward_worker;
`
