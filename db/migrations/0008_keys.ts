/** How long answers are kept for replays. */
export const keys = `
alter table idempotency_key add column expires_at timestamptz;
update idempotency_key set expires_at = created_at + interval '30 days'
where lower(rtrim(endpoint, '/')) <> '/v1/intents';
create index idempotency_key_expiry on idempotency_key (expires_at) where expires_at is not null;
comment on column idempotency_key.expires_at is 'From then on the key is as good as new, deleted or not. Null: never.';

-- A key whose time is over is taken again, also before it was deleted.
grant update (fingerprint, created_at, expires_at) on idempotency_key to steward_api;
`
