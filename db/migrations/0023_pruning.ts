/** What was signed days ago counts towards no daily limit any more, and may go. */
export const pruning = `
-- A row is kept for twice as long as it counts: no limit has room sooner because it is gone, whoever deletes it.
create function refuse_change_of_late() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.signed_at < clock_timestamp() - interval '48 hours' then return old; end if;
  raise exception '% is kept as it was written for two days.', tg_table_name using errcode = 'restrict_violation';
end $$;
drop trigger signed_amount_kept on signed_amount;
create trigger signed_amount_kept before update or delete on signed_amount
  for each row execute function refuse_change_of_late();
create trigger signed_amount_whole before truncate on signed_amount
  for each statement execute function refuse_change();
comment on table signed_amount is
  'Dollars that began to move when an operation was signed, in base units. Only the signer writes it, once. Kept for two days.';

-- Deletes at most so many rows that count no more, the oldest first, and says how many they were.
create function prune_signed_amounts(p_limit int) returns int
language sql security definer set search_path = public, pg_temp as $$
  with pruned as (
    delete from signed_amount where operation_id = any (array(
      select s.operation_id from signed_amount s
      -- Stable within the statement, as an index asks of what it is searched by.
      where s.signed_at < statement_timestamp() - interval '48 hours'
      order by s.signed_at limit p_limit for update skip locked))
    returning 1)
  select count(*)::int from pruned
$$;
revoke execute on function refuse_change_of_late, prune_signed_amounts from public;
grant execute on function prune_signed_amounts to steward_worker;
`
