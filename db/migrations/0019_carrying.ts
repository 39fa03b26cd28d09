/** What is signed stands apart, whose an operation is is bound by keys, and carrying again has a memory. */
export const carrying = `
-- Only the signer reads and writes what is signed. Others may know that something is.
create table signature (
  operation_id text primary key references operation on delete cascade,
  payload json not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table signature is 'What was signed for an operation. It exists as long as anybody may execute it.';
comment on column signature.payload is 'A user operation, or the call of a funding or a mint: enough to carry it in another transaction.';
insert into signature (operation_id, payload, created_at)
select id, payload, created_at from operation where payload is not null;
alter table operation drop column payload;
grant select, insert on signature to steward_signer;
grant select (operation_id) on signature to steward_lanes;

-- What is deferred has nothing signed, whoever defers it.
create or replace function forget_signature() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from signature s where s.operation_id = new.id;
  new.tx_id := null;
  return new;
end $$;
revoke execute on function forget_signature from public;

create or replace function cancel_intent(p_account text, p_intent text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare i intent;
begin
  -- The account first, as every charge does: two orders would wait for each other.
  perform from account a where a.id = p_account for no key update;
  select * into i from intent x where x.id = p_intent and x.account_id = p_account for update;
  if not found then return 'unknown'; end if;
  if i.cancelled_at is not null then return 'cancelled'; end if;
  if i.status in ('completed', 'failed') then return 'already_over'; end if;
  perform from operation o where o.intent_id = i.id order by o.id for update;
  if exists (select from operation o where o.intent_id = i.id
    and (o.state in ('signed', 'mined', 'confirmed', 'final') or o.spent_since is not null
      or exists (select from signature s where s.operation_id = o.id)))
  then return 'already_signed'; end if;
  update operation o set state = 'cancelled', code = 'CANCELLED', message = 'The intent was cancelled.',
    taken_by = null, taken_until = null
  where o.intent_id = i.id and o.state in ('queued', 'deferred');
  update reservation r set released_at = clock_timestamp()
  where r.intent_id = i.id and r.released_at is null;
  perform move_intent(i.id, 'cancelled', json_build_object(
    'code', 'CANCELLED', 'message', 'The intent was cancelled. Nothing was sent.'));
  perform refund_call(i.request_id);
  return 'cancelled';
end $$;

-- Whose an intent is follows from its wallet, and whose an operation is from its intent or its funding.
alter table wallet add unique (id, account_id);
alter table intent
  drop constraint intent_wallet_id_fkey,
  drop constraint intent_retry_of_fkey,
  add unique (id, wallet_id),
  add foreign key (wallet_id, account_id) references wallet (id, account_id),
  add foreign key (retry_of, wallet_id) references intent (id, wallet_id);
alter table funding
  drop constraint funding_wallet_id_fkey,
  add unique (id, wallet_id),
  add foreign key (wallet_id, account_id) references wallet (id, account_id);
alter table reservation
  drop constraint reservation_intent_id_fkey,
  drop constraint reservation_wallet_id_fkey,
  add foreign key (intent_id, wallet_id) references intent (id, wallet_id);
alter table operation
  drop constraint operation_account_id_fkey,
  drop constraint operation_wallet_id_fkey,
  add column for_intent text generated always as (case when kind <> 'fund' then intent_id end) stored,
  add column for_funding text generated always as (case when kind = 'fund' then intent_id end) stored,
  add foreign key (for_intent, wallet_id) references intent (id, wallet_id),
  add foreign key (for_funding, wallet_id) references funding (id, wallet_id),
  add foreign key (wallet_id, account_id) references wallet (id, account_id);
comment on column operation.for_intent is 'The intent that it is part of; null for a funding.';
comment on column operation.for_funding is 'The funding that it pays; null for a step of an intent.';

-- How many fundings a day has brought.
create index funding_account on funding (account_id, created_at);
create index funding_wallet on funding (wallet_id, created_at);

-- What is signed and could not be carried is tried less and less often.
alter table operation
  add column carry_failures int not null default 0 check (carry_failures >= 0),
  add column spent_since bigint check (spent_since >= 0);
create index operation_spent on operation (chain_id)
  where spent_since is not null and state in ('queued', 'deferred', 'signed');
comment on column operation.carry_failures is
  'Carriers of it that were reverted and tries to carry it that were refused, since it was last in a block.';
comment on column operation.spent_since is
  'The lowest block that may hold its log, since the signer found its key used on the chain: the lanes look it up. Null: the key is not known to be used.';
-- What the chain has executed is not given up, though its log is not found yet.
alter policy unsigned on operation using (state in ('queued', 'deferred'))
  with check (state = 'queued' or state = 'cancelled' and spent_since is null);
grant update (carry_failures, spent_since) on operation to steward_signer, steward_lanes;
`
