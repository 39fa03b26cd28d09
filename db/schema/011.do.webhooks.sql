-- Webhooks and their deliveries.

-- The public key that webhook secrets are sealed to. The private key is in a file of the worker.
create table webhook_key (
  only_row boolean default true primary key check (only_row),
  id text not null unique,
  public_key bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
grant select on webhook_key to steward_api, steward_worker;
grant insert (id, public_key) on webhook_key to steward_worker;

-- Webhook endpoints of accounts.
create table webhook (
  id text primary key,
  account_id text not null references account,
  url text not null,
  -- The event types to deliver, as in intent_event. Null: all.
  events text[] check (cardinality(events) > 0),
  description text not null default '',
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  disabled_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  -- Deleted endpoints keep their deliveries for the usual time.
  deleted_at timestamptz,
  -- Events before this time are not delivered.
  enabled_at timestamptz not null default clock_timestamp(),
  constraint webhook_check check ((status = 'disabled') = (disabled_at is not null)),
  constraint webhook_check1 check ((status = 'disabled') = (disabled_reason is not null))
);
create index webhook_account on webhook (account_id, id) where deleted_at is null;
create index webhook_enabled on webhook (account_id) where deleted_at is null and status = 'enabled';
alter table webhook enable row level security;
create policy own_account on webhook to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on webhook to steward_worker using (true);
grant select on webhook to steward_api, steward_worker;
grant insert (id, account_id, url, events, description) on webhook to steward_api;
grant update (url, events, description, status, disabled_reason, disabled_at, deleted_at, enabled_at) on webhook to
  steward_api;

-- Signing secrets of webhooks, sealed to the worker. Neither a dump nor the API can reveal them.
create table webhook_secret (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook,
  key_id text not null references webhook_key (id),
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Null: the current secret. An earlier secret also signs until this time.
  ends_at timestamptz
);
create unique index webhook_secret_current on webhook_secret (webhook_id) where ends_at is null;
alter table webhook_secret enable row level security;
create policy own_account on webhook_secret to steward_api
  using (webhook_id in (select webhook.id from webhook)) with check (webhook_id in (select webhook.id from webhook));
create policy all_accounts on webhook_secret for select to steward_worker using (true);
grant select on webhook_secret to steward_worker;
grant select (webhook_id, ends_at) on webhook_secret to steward_api;
grant insert (webhook_id, key_id, sealed) on webhook_secret to steward_api;
grant update (ends_at) on webhook_secret to steward_api;

-- One event for one endpoint. Kept for 30 days.
create table webhook_delivery (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook,
  account_id text not null,
  event_id bigint not null,
  -- Type of the event, as in intent_event.
  type text not null,
  -- The intent of the event. Null: an event of the account.
  intent_id text,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- The latest attempts, oldest first: {at, ms} and optional status, error and body, with the first 1 kB of the response.
  attempts jsonb not null default '[]'::jsonb,
  -- Incremented by each manual repetition. The workflow of an earlier run stops when it sees a higher number.
  run int not null default 1,
  run_attempts int not null default 0,
  run_since timestamptz not null default clock_timestamp(),
  next_attempt_at timestamptz default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  constraint webhook_delivery_check check ((status = 'pending') = (next_attempt_at is not null)),
  unique (webhook_id, event_id)
);
create index webhook_delivery_list on webhook_delivery (webhook_id, id);
create index webhook_delivery_intent on webhook_delivery (account_id, intent_id, id) where intent_id is not null;
create index webhook_delivery_undispatched on webhook_delivery (webhook_id, id)
  where dispatched_at is null and status = 'pending';
create index webhook_delivery_due on webhook_delivery (next_attempt_at) where status = 'pending';
create index webhook_delivery_troubled on webhook_delivery (webhook_id, id) where status <> 'delivered';
create index webhook_delivery_age on webhook_delivery (created_at) where status <> 'pending';
alter table webhook_delivery enable row level security;
create policy own_account on webhook_delivery to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on webhook_delivery for select to steward_worker using (true);
create policy sent on webhook_delivery for update to steward_worker using (true);
create policy old on webhook_delivery for delete to steward_worker
  using (status <> 'pending' and created_at < clock_timestamp() - interval '30 days');
grant select on webhook_delivery to steward_api;
grant select, delete on webhook_delivery to steward_worker;
grant update (status, run, run_attempts, run_since, next_attempt_at, dispatched_at) on webhook_delivery to
  steward_api;
grant update (status, attempts, run_attempts, next_attempt_at, dispatched_at) on webhook_delivery to steward_worker;

-- The position in the event log up to which deliveries are created. See intent_event.xact.
create table webhook_dispatch (
  only_row boolean default true primary key check (only_row),
  xact xid8 not null,
  id bigint not null
);

-- Creates the deliveries of the next p_limit events, in log order, and advances the position.
create function dispatch_webhooks(p_limit int)
returns table (made int, is_full boolean, is_held boolean)
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  d webhook_dispatch;
  v_horizon xid8;
  v_read int := 0;
begin
  select * into d from webhook_dispatch for update;
  v_horizon := event_horizon();
  made := 0;
  if exists (select from webhook w where w.status = 'enabled' and w.deleted_at is null) then
    with batch as materialized (
      select e.id, e.xact, e.account_id, e.intent_id, e.type, e.at from intent_event e
      where (e.xact, e.id) > (d.xact, d.id) and e.xact < v_horizon
      order by e.xact, e.id limit p_limit
    ), deliveries as (
      insert into webhook_delivery (webhook_id, account_id, event_id, type, intent_id)
      select w.id, t.account_id, t.id, t.type, t.intent_id
      from batch t join webhook w on w.account_id = t.account_id
      where w.status = 'enabled' and w.deleted_at is null and w.enabled_at < t.at
        and (w.events is null or t.type = any (w.events)) and t.type <> 'webhook.test'
      order by t.xact, t.id
      on conflict (webhook_id, event_id) do nothing
      returning 1
    )
    select t.batch, t.made, coalesce(l.xact, d.xact), coalesce(l.id, d.id)
    into v_read, made, d.xact, d.id
    from (select (select count(*) from batch) as batch, (select count(*) from deliveries) as made) t
    left join lateral (select batch.xact, batch.id from batch order by batch.xact desc, batch.id desc limit 1) l on true;
  end if;
  is_full := v_read >= p_limit;
  -- All events before the horizon are processed, and later transactions cannot add any.
  if not is_full and d.xact < v_horizon then
    d.xact := v_horizon;
    d.id := 0;
  end if;
  update webhook_dispatch set xact = d.xact, id = d.id where (xact, id) <> (d.xact, d.id);
  is_held := exists (select from intent_event e where (e.xact, e.id) > (d.xact, d.id));
  return next;
end $$;

-- Creates a test delivery regardless of the selected event types. Null: the endpoint is missing or disabled.
create function test_webhook(p_webhook text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  w webhook;
  v_event bigint;
  v_delivery bigint;
begin
  select * into w from webhook x
  where x.id = p_webhook and x.account_id = current_account(true) and x.deleted_at is null and x.status = 'enabled';
  if not found then return null; end if;
  insert into intent_event (account_id, type, data)
  values (w.account_id, 'webhook.test', json_build_object('webhookId', w.id)) returning id into v_event;
  insert into webhook_delivery (webhook_id, account_id, event_id, type)
  values (w.id, w.account_id, v_event, 'webhook.test') returning id into v_delivery;
  return v_delivery;
end $$;

-- Disables an endpoint and emits webhook.disabled, once.
create function disable_webhook(p_webhook text, p_reason text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare w webhook;
begin
  update webhook x set status = 'disabled', disabled_reason = p_reason, disabled_at = clock_timestamp()
  where x.id = p_webhook and x.status = 'enabled' and x.deleted_at is null returning * into w;
  if not found then return; end if;
  insert into intent_event (account_id, type, data)
  values (w.account_id, 'webhook.disabled', json_build_object('webhookId', w.id, 'reason', p_reason));
end $$;

grant execute on function dispatch_webhooks, disable_webhook to steward_worker;
grant execute on function test_webhook to steward_api;

insert into webhook_dispatch (xact, id) values (pg_current_xact_id(), 0);
