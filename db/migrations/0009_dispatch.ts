/** Which intents the sweeper looks at. */
export const dispatch = `
-- An intent that was cancelled before its workflow was started never gets one: it must not stay in the way.
drop index intent_undispatched;
create index intent_undispatched on intent (created_at)
  where dispatched_at is null and status not in ('completed', 'failed');
comment on column intent.dispatched_at is
  'When its workflow was started. Null: the sweeper starts it, unless the intent is over.';
`
