/** What operations contend for, and what open intents will pay into a market. */
export const resources = `
-- From the plan, by the database: whoever orders an operation does not name what it contends for.
create function resource_of(o operation) returns text language sql stable as $$
  select case o.kind when 'bridge' then 'burn:' || o.wallet_id else (
    select case o.kind
      when 'swap' then 'swap:' || least(s ->> 'asset', s ->> 'toAsset')
        || '/' || greatest(s ->> 'asset', s ->> 'toAsset')
      else o.kind || ':' || lower(s ->> 'market') end
    from intent i cross join json_array_elements(i.plan -> 'steps') s
    where i.id = o.intent_id and s ->> 'sequence' = o.sequence::text and s ->> 'type' = o.kind
    limit 1) end
$$;
create function name_resource() returns trigger language plpgsql as $$
begin
  new.resource := resource_of(new);
  return new;
end $$;

alter table operation add column resource text;
comment on column operation.resource is
  'What it contends for with others of its chain: deposit: or withdraw: and a market, swap: and a pair of tokens, burn: and a wallet. Null: nothing.';
update operation o set resource = resource_of(o)
where o.kind not in ('mint', 'fund') and o.state in ('queued', 'deferred', 'signed', 'mined', 'confirmed');
create trigger operation_resource before insert on operation
  for each row when (new.kind not in ('mint', 'fund')) execute function name_resource();
create index operation_resource on operation (chain_id, resource)
  where resource is not null and state in ('queued', 'deferred', 'signed', 'mined', 'confirmed');

-- One sum over all accounts, and nothing else of them.
create function market_reserved(p_chain bigint, p_markets text[], p_token text) returns numeric
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(r.units), 0) from reservation r
  where r.chain_id = p_chain and r.market = any(p_markets) and r.token = p_token
    and r.spent_block is null and r.released_at is null
$$;
revoke execute on function market_reserved from public;
grant execute on function market_reserved to steward_api, steward_worker;
create index reservation_room on reservation (chain_id, market, token)
  where market is not null and spent_block is null and released_at is null;

-- An intent that counts on money above the booked block is planned once that block is booked.
alter table intent add column seen_blocks json;
comment on column intent.seen_blocks is
  'Heads of chains at which the money was seen that the booked blocks do not show yet. Null: none was needed.';
`
