/** When each part of an intent happened, and what it waits for: what a reader is told of its way. */
export const story = `
alter table intent
  add column updated_at timestamptz,
  add column ended_at timestamptz;
comment on column intent.updated_at is
  'When its status, plan, error or delay changed last. Null: never since it was created. Steps have times of their own.';
comment on column intent.ended_at is 'When it was completed, failed or cancelled. Null: it is not over.';

alter table operation
  add column waits_for text,
  add column waits_since timestamptz,
  add column signed_at timestamptz,
  add column mined_at timestamptz,
  add column ended_at timestamptz,
  add column changed_at timestamptz,
  add column block_time timestamptz;
comment on column operation.waits_for is
  'What the signer was held up by when it tried last, by its published code. Null: not tried, or signed since.';
comment on column operation.waits_since is 'Since when every try was held up by the same.';
comment on column operation.mined_at is 'When its block was booked. Null: it is in none.';
comment on column operation.ended_at is 'When it was confirmed, rejected or cancelled. Null: it is not over.';
comment on column operation.changed_at is 'When its state changed last, as far as callers are told of it.';
comment on column operation.block_time is 'What its block says of the time. Null: in no block, or nobody has told.';

alter table burn add column attested_at timestamptz;
comment on column burn.attested_at is 'When its message was attested first. Null: it is not.';

-- What was told before these columns were there.
update intent i set
  updated_at = e.at,
  ended_at = case when i.status in ('completed', 'failed') then coalesce(i.completed_at, e.ended_at, e.at) end
from (
  select intent_id, max(at) as at, max(at) filter (where type in ('failed', 'cancelled')) as ended_at
  from intent_event where type not like 'step%'
  group by 1
) e
where e.intent_id = i.id;
update operation o set ended_at = e.at, changed_at = e.at
from (
  select intent_id, data ->> 'step' as step, data ->> 'kind' as kind, max(at) as at
  from intent_event where type in ('step_progressed', 'step_completed', 'step_failed')
  group by 1, 2, 3
) e
where e.intent_id = o.intent_id and e.step = o.sequence::text and e.kind = o.kind
  and o.state in ('confirmed', 'final', 'rejected', 'cancelled');

-- No role writes these: they follow from what is written.
create function note_intent_times() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then new.updated_at := clock_timestamp(); end if;
  if new.status not in ('completed', 'failed') then
    new.ended_at := null;
  elsif tg_op = 'INSERT' or old.status is distinct from new.status then
    new.ended_at := coalesce(new.completed_at, clock_timestamp());
  end if;
  return new;
end $$;
create trigger intent_times before insert or update of status, plan, error, delay on intent
  for each row execute function note_intent_times();

create function note_operation_times() returns trigger language plpgsql as $$
declare v_now timestamptz := clock_timestamp();
begin
  if new.state = 'final' and tg_op = 'UPDATE' then return new; end if;
  -- What is deferred is queued again and again: a reader hears of it when it waits for something else.
  if tg_op = 'UPDATE' and not (old.state in ('queued', 'deferred') and new.state in ('queued', 'deferred')) then
    new.changed_at := v_now;
  end if;
  if new.state in ('queued', 'deferred') then
    new.signed_at := null;
  elsif new.state = 'signed' then
    new.signed_at := coalesce(new.signed_at, v_now);
  end if;
  if new.state in ('queued', 'deferred', 'signed') then
    new.mined_at := null;
    new.block_time := null;
  elsif new.state = 'mined' then
    new.mined_at := v_now;
  end if;
  new.ended_at := case when new.state in ('confirmed', 'final', 'rejected', 'cancelled') then v_now end;
  return new;
end $$;
create trigger operation_times before insert or update of state on operation
  for each row execute function note_operation_times();

create function note_attestation() returns trigger language plpgsql as $$
begin
  new.attested_at := clock_timestamp();
  return new;
end $$;
create trigger burn_times before update of message on burn
  for each row when (old.message is null and new.message is not null)
  execute function note_attestation();
revoke execute on function note_intent_times, note_operation_times, note_attestation from public;

grant update (waits_for, waits_since) on operation to steward_signer;
grant update (block_time) on operation to steward_lanes;

-- The API tells its callers when their money was burned and attested, and nothing else of it.
alter table burn enable row level security;
create policy all_accounts on burn to steward_worker, steward_lanes, steward_signer
  using (true) with check (true);
create policy own_account on burn for select to steward_api
  using (exists (select from operation o where o.id = burn.operation_id));
grant select (operation_id, burned_at, attested_at) on burn to steward_api;

-- Lists by status, and those of a span of time.
create index intent_account_status on intent (account_id, status, id);
create index funding_open_wallet on funding (wallet_id, created_at) where completed_at is null;
`
