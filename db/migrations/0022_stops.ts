/** What operators stop, who did so and why; and what was signed of late, by which daily limits are kept. */
export const stops = `
create table audit_event (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null check (actor <> ''),
  action text not null,
  subject text not null,
  why text not null check (why <> '')
);
comment on table audit_event is 'What operators have done, who, and why. Append-only.';
comment on column audit_event.subject is 'Id of an account or a wallet, number of a chain; empty for the deployment.';

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only.', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger audit_event_kept before update or delete or truncate on audit_event
  for each statement execute function refuse_change();

create table stop (
  id bigint generated always as identity primary key,
  scope text not null check (scope in ('account', 'wallet', 'chain', 'deployment')),
  subject text not null check ((subject = '') = (scope = 'deployment')),
  since timestamptz not null default clock_timestamp(),
  until timestamptz check (until >= since),
  begun_by bigint not null references audit_event,
  ended_by bigint references audit_event,
  check ((until is null) = (ended_by is null))
);
create unique index stop_open on stop (scope, subject) where until is null;
create index stop_past on stop (until);
comment on table stop is
  'While one is open nothing that it concerns is signed or carried again. What was sent goes on being watched.';
comment on column stop.subject is 'Id of an account or a wallet, number of a chain; empty for the deployment.';

alter table stop enable row level security;
create policy all_stops on stop for select to steward_worker, steward_signer using (true);
create policy own_stops on stop for select to steward_api using (
  scope in ('chain', 'deployment') or subject = current_account() or subject in (select id from wallet));
grant select on stop to steward_worker, steward_signer;
grant select (id, scope, subject, since, until) on stop to steward_api;
-- Why somebody was frozen is for operators: the worker tells it in their own view only.
grant select on audit_event to steward_worker;
revoke execute on function refuse_change from public;

create table signed_amount (
  operation_id text primary key references operation,
  wallet_id text not null references wallet,
  units numeric(78, 0) not null check (units > 0),
  signed_at timestamptz not null default clock_timestamp()
);
create index signed_amount_latest on signed_amount (signed_at);
create index signed_amount_wallet on signed_amount (wallet_id, signed_at);
comment on table signed_amount is
  'Dollars that began to move when an operation was signed, in base units. Only the signer writes it, once.';
create trigger signed_amount_kept before update or delete or truncate on signed_amount
  for each statement execute function refuse_change();
grant select, insert on signed_amount to steward_signer;
`
