-- Operators: the audit log, pauses, and the state that they read.

-- Actions of operators, with actor and reason. Append-only.
create table audit_event (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null check (actor <> ''),
  action text not null,
  -- Id of an account, wallet, key or invitation, number of a chain; empty for the deployment.
  subject text not null,
  why text not null check (why <> ''),
  -- The new value of the subject, such as a plan.
  detail text
);
grant select on audit_event to steward_worker;

-- Pauses and freezes. While one is open, the signer signs nothing and the relayer sends nothing within its scope.
-- Transactions that were sent are still watched.
create table pause (
  id bigint generated always as identity primary key,
  scope text not null check (scope in ('account', 'wallet', 'chain', 'deployment')),
  -- Id of an account or a wallet, number of a chain; empty for the deployment.
  subject text not null,
  since timestamptz not null default clock_timestamp(),
  until timestamptz,
  begun_by bigint not null references audit_event,
  ended_by bigint references audit_event,
  -- True when the service paused the chain itself.
  is_automatic boolean not null default false,
  constraint pause_check check ((subject = '') = (scope = 'deployment')),
  constraint pause_check1 check (until >= since),
  constraint pause_check2 check ((until is null) = (ended_by is null))
);
create unique index pause_open on pause (scope, subject) where until is null;
create index pause_past on pause (until);
alter table pause enable row level security;
create policy all_pauses on pause for select to steward_worker, steward_signer, steward_relayer using (true);
create policy own_pauses on pause for select to steward_api
  using (scope in ('chain', 'deployment') or subject = current_account((select true)) or (select true from wallet w where (w.id = pause.subject)));
grant select on pause to steward_worker, steward_signer;
grant select (id, scope, subject, since, until) on pause to steward_relayer;
grant select (id, scope, subject, since, until, is_automatic) on pause to steward_api;

create trigger audit_event_kept before delete or update or truncate on audit_event
  for each statement execute function refuse_change();

-- Appends to the audit log what an operator changed with the role of the database owner, as record_member_action does.
-- The operator's commands set app.operator and app.why.
create function record_operator_action() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_row jsonb := to_jsonb(new);
begin
  insert into audit_event (actor, action, subject, why, detail)
  values (coalesce(nullif(current_setting('app.operator', true), ''), session_user), tg_argv[0],
    v_row ->> tg_argv[1], coalesce(nullif(current_setting('app.why', true), ''), 'No reason was given.'),
    v_row ->> tg_argv[2]);
  return null;
end $$;
create trigger account_made after insert on account
  for each row execute function record_operator_action('account create', 'id', 'plan');
create trigger account_plan after update of plan on account
  for each row execute function record_operator_action('account plan', 'id', 'plan');
create trigger credits_granted after insert on ledger
  for each row when (new.reason = 'purchase')
  execute function record_operator_action('credits grant', 'account_id', 'delta');
create trigger api_key_made_by_operator after insert on api_key
  for each row when (current_user <> 'steward_api') execute function record_operator_action('key create', 'id', 'name');
create trigger api_key_shortened_by_operator after update of expires_at on api_key
  for each row when (current_user <> 'steward_api')
  execute function record_operator_action('key shorten', 'id', 'expires_at');
create trigger api_key_revoked_by_operator after update of revoked_at on api_key
  for each row when (current_user <> 'steward_api') execute function record_operator_action('key revoke', 'id', 'name');
create trigger member_invited_by_operator after insert on invitation
  for each row when (current_user <> 'steward_api' and not new.is_operator)
  execute function record_operator_action('member invite', 'id', 'email');
create trigger operator_invited after insert on invitation
  for each row when (new.is_operator) execute function record_operator_action('operator invite', 'id', 'email');
create trigger invitation_withdrawn_by_operator after update of ended_at on invitation
  for each row when (current_user <> 'steward_api') execute function record_operator_action('member uninvite', 'id', 'email');
create trigger password_reset_by_operator after insert or update on password_reset
  for each row when (new.made_by is null)
  execute function record_operator_action('password reset', 'user_id', 'account_id');

-- The block up to which the worker has compared the final results of a chain with another endpoint.
create table recheck (
  chain_id bigint primary key references chain,
  block bigint not null
);
grant select, insert, update on recheck to steward_worker;

-- Pauses a chain because another endpoint contradicts a final result. False when it is paused already. Operators resume
-- it: the worker has no other right on pauses.
create function pause_contradicted(p_chain bigint, p_why text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_act bigint;
begin
  insert into audit_event (actor, action, subject, why)
  select 'the worker', 'chain pause', c.id::text, p_why from chain c where c.id = p_chain
  returning id into v_act;
  insert into pause (scope, subject, begun_by, is_automatic)
  select 'chain', p_chain::text, v_act, true where v_act is not null;
  return found;
-- The audit event of a second pause is undone with it.
exception when unique_violation then return false;
end $$;

-- The state of the deployment, for the session of an operator. Null for other users. Definer: it reads across accounts, which no row
-- policy of the API's role allows.
create function read_system(p_token_hash bytea) returns json
language sql stable security definer set search_path = public, pg_temp as $$
  select json_build_object(
    'roles', (select json_agg(json_build_object('role', role, 'sessions', (
        select count(*) from pg_stat_activity s
        where s.datname = current_database() and s.usename = 'steward_' || role)))
      from unnest(array['api', 'worker', 'relayer', 'signer']) as role),
    'chains', (select json_agg(json_build_object('chainId', c.id::text, 'indexedBlock', c.indexed_block::text,
        'finalizedBlock', c.finalized_block::text, 'indexedAt', c.indexed_at,
        'waiting', o.waiting, 'waitingSince', o.waiting_since, 'sent', o.sent) order by c.id)
      from chain c cross join lateral (
        select count(*) filter (where w.state in ('queued', 'deferred')) as waiting,
          min(w.created_at) filter (where w.state in ('queued', 'deferred')) as waiting_since,
          count(*) filter (where w.state = 'signed') as sent
        from operation w
        where w.chain_id = c.id and w.state in ('queued', 'deferred', 'signed')) as o),
    'senders', (select json_agg(json_build_object('chainId', l.chain_id::text, 'address', l.sender,
        'nextNonce', l.next_nonce::text, 'open', t.open, 'openSince', t.since, 'outOfGasSince', l.out_of_gas_since)
        order by l.chain_id, l.sender)
      from sender l cross join lateral (
        select count(*) as open, min(x.opened_at) as since from chain_tx x
        where x.chain_id = l.chain_id and x.sender = l.sender and x.state = 'open') as t
      where l.purpose = 'operations'),
    'pauses', (select json_agg(json_build_object('scope', s.scope, 'subject', s.subject, 'since', s.since,
        'by', e.actor, 'why', e.why) order by s.since)
      from pause s join audit_event e on e.id = s.begun_by where s.until is null),
    'auditLog', (select json_agg(json_build_object('at', e.at, 'actor', e.actor, 'action', e.action,
        'subject', e.subject, 'why', e.why) order by e.id desc)
      from (select * from audit_event order by id desc limit 20) e),
    'late', (select json_agg(json_build_object('intentId', i.id, 'accountId', i.account_id,
        'code', i.delay ->> 'code', 'since', i.delay ->> 'since') order by i.delay ->> 'since')
      from (select * from intent where delay is not null and status = 'executing'
        order by delay ->> 'since' limit 20) i))
  where exists (select from session_of(p_token_hash) s join app_user u on u.id = s.user_id where u.is_operator)
$$;

grant execute on function read_system to steward_api;
grant execute on function pause_contradicted to steward_worker;
