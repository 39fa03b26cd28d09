/** What the sweeper starts it finds account by account, however many one of them has. */
export const inTurn = `
drop index intent_undispatched;
create index intent_undispatched on intent (account_id, swept_at nulls first, created_at)
  where dispatched_at is null and status not in ('completed', 'failed');
drop index funding_undispatched;
create index funding_undispatched on funding (account_id, swept_at nulls first, created_at) where dispatched_at is null;
`
