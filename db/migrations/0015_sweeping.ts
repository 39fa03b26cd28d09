/** Which workflow a sweeper starts now, so that two sweepers do not start the same one. */
export const sweeping = `
alter table intent add column swept_at timestamptz;
alter table funding add column swept_at timestamptz;
comment on column intent.swept_at is
  'When a sweeper took it to start its workflow: no other one does for a while. Null: never.';
comment on column funding.swept_at is
  'When a sweeper took it to start its workflow: no other one does for a while. Null: never.';

-- What was tried last comes last: what cannot be started is not in the way of the others.
drop index intent_undispatched;
create index intent_undispatched on intent (swept_at nulls first, created_at)
  where dispatched_at is null and status not in ('completed', 'failed');
drop index funding_undispatched;
create index funding_undispatched on funding (swept_at nulls first, created_at) where dispatched_at is null;
create index funding_open on funding (id) where completed_at is null;

grant update (swept_at) on intent, funding to steward_worker;
`
