/** Intents that come together are planned beside each other, and stored by one call. */

const planned = `
alter table wallet add column planned int not null default 0;
comment on column wallet.planned is
  'How often its money was reserved: a plan that was made without holding the wallet counts while this is as it was.';
-- Each intent writes a new version of the row, on the same page where there is room.
alter table wallet set (fillfactor = 85);
-- Whoever reserves, and however.
create function count_plans() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update wallet w set planned = w.planned + 1 from (select distinct m.wallet_id from made m) r where w.id = r.wallet_id;
  return null;
end $$;
create trigger reservation_counted after insert on reservation
  referencing new table as made for each statement execute function count_plans();
revoke execute on function count_plans from public;
`

const charging = `
-- Until the end of the transaction nobody else charges the account. Waits for whoever does.
create function await_account(p_account text) returns void
language sql security definer set search_path = public, pg_temp as
  $$ select from account a where a.id = p_account for no key update $$;

-- Charges calls of one account as charge_call does one, all of them or none. False: it has too few credits for all.
create function charge_calls(p_account text, p_requests text[], p_cost bigint, p_route text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  a account;
  v_cost bigint := p_cost * cardinality(p_requests);
begin
  if v_cost = 0 then return true; end if;
  select * into a from account x where x.id = p_account for no key update;
  a := renew_credits(a, p_requests[1]);
  if a.granted + a.purchased < v_cost then return false; end if;
  insert into ledger (account_id, request_id, reason, delta, from_granted, period)
  select a.id, r.request, 'charge:' || p_route, -p_cost,
    -- The monthly ones first: what is left of them after those before it.
    least(p_cost, greatest(0, a.granted - p_cost * (r.at - 1))), a.period
  from unnest((select p_requests)) with ordinality as r (request, at);
  a.purchased := a.purchased - greatest(0, v_cost - a.granted);
  a.granted := greatest(0, a.granted - v_cost);
  a.total_used := a.total_used + v_cost;
  perform save_account(a);
  return true;
end $$;
`

const storing = `
-- Stores planned intents of an account with what their steps reserve, and charges their calls, as whoever calls. Those
-- are left out, uncharged, whose wallet somebody holds, or of which money was reserved since their plan was made, and all
-- of them where credits do not suffice for all. Waits for the account only, before it holds anything.
-- p_of: by its place among the intents, whose a reservation is.
create function submit_intents(p_account text, p_cost bigint, p_route text, p_requests text[], p_ids text[],
  p_wallets text[], p_planned int[], p_actions text[], p_assets text[], p_units numeric[], p_chains text[],
  p_from_chains text[], p_everything boolean[], p_days int[], p_metadata json[], p_plans json[],
  p_of int[], p_sequences int[], p_chain_ids bigint[], p_tokens text[], p_reserved numeric[], p_fed_by int[],
  p_markets text[], p_emptied boolean[])
returns table (at int, created_at timestamptz) language plpgsql as $$
declare
  v_held int[];
begin
  perform await_account(set_config('app.account', p_account, true));
  with free as (
    select w.id, c.at
    from unnest((select p_wallets), (select p_planned)) with ordinality as c (id, planned, at)
    join wallet w on w.id = c.id and w.planned = c.planned
    for no key update of w skip locked
  )
  -- Of one wallet one: the next of its intents is planned anew.
  select array_agg(f.at order by f.at) into v_held from (select min(x.at) as at from free x group by x.id) f;
  if v_held is null then return; end if;
  if not charge_calls(p_account, array(select p_requests[h] from unnest(v_held) as h), p_cost, p_route) then
    raise exception 'account % has too few credits', p_account using errcode = 'ST402', detail = '0';
  end if;
  return query
    with made as (
      insert into intent as i (id, account_id, wallet_id, request_id, action, asset, units, chain, from_chain, everything,
        net_over_days, metadata, plan, status)
      select p_ids[h], p_account, p_wallets[h], p_requests[h], p_actions[h], p_assets[h], p_units[h], p_chains[h],
        p_from_chains[h], p_everything[h], p_days[h], p_metadata[h], p_plans[h], 'planning'
      from unnest((select v_held)) as h
      returning i.id, i.created_at
    ), reserved as (
      insert into reservation
        (intent_id, wallet_id, sequence, chain_id, token, units, from_block, fed_by, market, everything)
      select p_ids[c.of], p_wallets[c.of], c.sequence, c.chain, c.token, c.units,
        case when c.fed_by is null then 0 end, c.fed_by, c.market, c.everything
      from unnest((select p_of), (select p_sequences), (select p_chain_ids), (select p_tokens), (select p_reserved),
        (select p_fed_by), (select p_markets), (select p_emptied))
        as c (of, sequence, chain, token, units, fed_by, market, everything)
      where c.of = any ((select v_held)::int[])
    )
    select h, m.created_at from made m join unnest((select v_held)) as h on m.id = p_ids[h];
end $$;
revoke execute on function await_account, charge_calls, submit_intents from public;
grant execute on function await_account, charge_calls, submit_intents to steward_api;
`

export const submitting = `${planned}${charging}${storing}`
