/** What the sweeper starts it finds account by account, and what was begun of one, however much of it waits. */
export const inTurn = `
drop index intent_undispatched;
create index intent_undispatched on intent (account_id, swept_at nulls first, created_at)
  where dispatched_at is null and status not in ('completed', 'failed');
drop index funding_undispatched;
create index funding_undispatched on funding (account_id, swept_at nulls first, created_at) where dispatched_at is null;
create index intent_unordered on intent (account_id, id) where status = 'planning' and dispatched_at is not null;
create index intent_swept on intent (account_id, swept_at)
  where status = 'planning' and dispatched_at is not null and swept_at is not null;
`
