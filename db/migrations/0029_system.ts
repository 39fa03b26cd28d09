/** What operators see of the whole deployment in the dashboard. */
export const system = `
-- The state of everything, for a user who is an operator; null for anybody else. Definer: it looks across
-- accounts, which no row policy of the API's role lets it do.
create function read_system(p_user text) returns json
language sql stable security definer set search_path = public, pg_temp as $$
  select json_build_object(
    'roles', (select json_agg(json_build_object('role', role, 'sessions', (
        select count(*) from pg_stat_activity s
        where s.datname = current_database() and s.usename = 'steward_' || role)))
      from unnest(array['api', 'worker', 'lanes', 'signer']) as role),
    'chains', (select json_agg(json_build_object('chainId', c.id::text, 'bookedBlock', c.booked_block::text,
        'finalizedBlock', c.finalized_block::text, 'bookedAt', c.booked_at,
        'waiting', o.waiting, 'waitingSince', o.waiting_since, 'sent', o.sent) order by c.id)
      from chain c cross join lateral (
        select count(*) filter (where w.state in ('queued', 'deferred')) as waiting,
          min(w.created_at) filter (where w.state in ('queued', 'deferred')) as waiting_since,
          count(*) filter (where w.state = 'signed') as sent
        from operation w
        where w.chain_id = c.id and w.state in ('queued', 'deferred', 'signed')) as o),
    'lanes', (select json_agg(json_build_object('chainId', l.chain_id::text, 'address', l.sender,
        'nextNonce', l.next_nonce::text, 'open', t.open, 'openSince', t.since, 'drySince', l.dry_since)
        order by l.chain_id, l.sender)
      from lane l cross join lateral (
        select count(*) as open, min(x.opened_at) as since from chain_tx x
        where x.chain_id = l.chain_id and x.sender = l.sender and x.state = 'open') as t
      where l.purpose = 'operations'),
    'stops', (select json_agg(json_build_object('scope', s.scope, 'subject', s.subject, 'since', s.since,
        'by', e.actor, 'why', e.why) order by s.since)
      from stop s join audit_event e on e.id = s.begun_by where s.until is null),
    'acts', (select json_agg(json_build_object('at', e.at, 'actor', e.actor, 'action', e.action,
        'subject', e.subject, 'why', e.why) order by e.id desc)
      from (select * from audit_event order by id desc limit 20) e),
    'late', (select json_agg(json_build_object('intentId', i.id, 'accountId', i.account_id,
        'code', i.delay ->> 'code', 'since', i.delay ->> 'since') order by i.delay ->> 'since')
      from (select * from intent where delay is not null and status = 'executing'
        order by delay ->> 'since' limit 20) i))
  where exists (select from app_user u where u.id = p_user and u.is_operator)
$$;
revoke execute on function read_system from public;
grant execute on function read_system to steward_api;
create index intent_late on intent ((delay ->> 'since')) where delay is not null and status = 'executing';
`
