-- Webhooks and their deliveries.

-- The public half of the key that secrets of webhooks are sealed to. The private half is in a file of the worker.
create table webhook_key (
  only_row boolean default true primary key check (only_row),
  id text not null unique,
  public_key bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
grant select on webhook_key to steward_api, steward_worker;
grant insert (id, public_key) on webhook_key to steward_worker;

-- Where an account wants to be told what happens.
create table webhook (
  id text primary key,
  account_id text not null references account,
  url text not null,
  -- The types that are sent, as in intent_event. Null: all.
  events text[] check (cardinality(events) > 0),
  description text not null default '',
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  disabled_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  -- Its deliveries are kept as long as others.
  deleted_at timestamptz,
  -- Since when it is told what happens.
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

-- What deliveries are signed with. Sealed to the worker: neither a dump nor the API, which has made it, can tell it.
create table webhook_secret (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook,
  key_id text not null references webhook_key (id),
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Null: the current one. Others sign beside it until then.
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

-- One event on its way to one endpoint. Kept for 30 days.
create table webhook_delivery (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook,
  account_id text not null,
  event_id bigint not null,
  -- Of the event, as in intent_event.
  type text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- The latest tries, the oldest first: {at, ms, status$1, error$2, body$3}, of the answer the first 1 kB.
  attempts jsonb not null default '[]'::jsonb,
  -- Counts up when it is asked for again: a workflow of an earlier run ends when it sees that.
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
create index webhook_delivery_undispatched on webhook_delivery (webhook_id, id)
  where dispatched_at is null and status = 'pending';
create index webhook_delivery_due on webhook_delivery (next_attempt_at) where status = 'pending';
create index webhook_delivery_troubled on webhook_delivery (webhook_id, id) where status <> 'delivered';
create index webhook_delivery_age on webhook_delivery (created_at) where status <> 'pending';
alter table webhook_delivery enable row level security;
create policy own_account on webhook_delivery to steward_api
  using (account_id = current_account((select true))) with check (account_id = current_account((select true)));
create policy all_accounts on webhook_delivery to steward_worker using (true);
grant select on webhook_delivery to steward_api;
grant select, delete on webhook_delivery to steward_worker;
grant update (status, run, run_attempts, run_since, next_attempt_at, dispatched_at) on webhook_delivery to
  steward_api;
grant update (status, attempts, run_attempts, next_attempt_at, dispatched_at) on webhook_delivery to steward_worker;

-- The place in the story of all accounts up to which deliveries have been made. See intent_event.xact.
create table webhook_dispatch (
  only_row boolean default true primary key check (only_row),
  xact xid8 not null,
  id bigint not null
);

-- Makes the deliveries of the next p_limit events, in their order, and notes how far it has come.
create function dispatch_webhooks(p_limit int)
returns table (made int, is_full boolean, is_held boolean)
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  d webhook_dispatch;
  v_horizon xid8;
  v_told int := 0;
begin
  select * into d from webhook_dispatch for update;
  v_horizon := told_before();
  made := 0;
  if exists (select from webhook w where w.status = 'enabled' and w.deleted_at is null) then
    with told as materialized (
      select e.id, e.xact, e.account_id, e.type, e.at from intent_event e
      where (e.xact, e.id) > (d.xact, d.id) and e.xact < v_horizon
      order by e.xact, e.id limit p_limit
    ), deliveries as (
      insert into webhook_delivery (webhook_id, account_id, event_id, type)
      select w.id, t.account_id, t.id, t.type
      from told t join webhook w on w.account_id = t.account_id
      where w.status = 'enabled' and w.deleted_at is null and w.enabled_at < t.at
        and (w.events is null or t.type = any (w.events)) and t.type <> 'webhook.test'
      order by t.xact, t.id
      on conflict (webhook_id, event_id) do nothing
      returning 1
    )
    select t.told, t.made, coalesce(l.xact, d.xact), coalesce(l.id, d.id)
    into v_told, made, d.xact, d.id
    from (select (select count(*) from told) as told, (select count(*) from deliveries) as made) t
    left join lateral (select told.xact, told.id from told order by told.xact desc, told.id desc limit 1) l on true;
  end if;
  is_full := v_told >= p_limit;
  -- All before the horizon has been read: a later transaction can put nothing there.
  if not is_full and d.xact < v_horizon then
    d.xact := v_horizon;
    d.id := 0;
  end if;
  update webhook_dispatch set xact = d.xact, id = d.id where (xact, id) <> (d.xact, d.id);
  is_held := exists (select from intent_event e where (e.xact, e.id) > (d.xact, d.id));
  return next;
end $$;

-- Tells an endpoint that it can be reached, whatever it wants to be told else. Null: there is none, or it is disabled.
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

-- Sends nothing more to an endpoint, and tells its account so, once.
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
